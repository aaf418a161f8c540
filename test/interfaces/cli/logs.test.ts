import { appendFileSync } from "node:fs";
import { lockProject } from "../../../src/foundation/store/project-lock.ts";
import { pause } from "../../helpers/pause.ts";
import { agentsOf, cliProject, eventStream, type Routes } from "./fake-operator.ts";
import { onTerminal } from "./terminal.ts";

const cli = cliProject();

function line(agent: string, msg: string, rest: object = {}) {
  return { level: 30, time: Date.now(), msg, agent, instanceId: `${agent}-abcd2345`, ...rest };
}

const other = { instanceId: "dev-other222" };
const textOf = (lines: readonly object[]) =>
  lines.map((each) => `${JSON.stringify(each)}\n`).join("");

/** Writes an agent's log of today, by UTC; its path. */
function writeLog(agent: string, ...lines: readonly object[]): string {
  const day = new Date().toISOString().slice(0, 10);
  return cli.write(`.al/logs/${agent}-${day}.log`, textOf(lines));
}

describe("al logs", () => {
  test("prints stored lines without a scheduler, with levels and indented line breaks", async () => {
    writeLog("dev", line("dev", "one\ntwo"), line("dev", "bad", { level: 50 }));
    await cli.prints(
      "logs dev",
      /^\d\d:\d\d:\d\d INFO {2}one\n {4}two\n\d\d:\d\d:\d\d ERROR bad\n$/,
    );
  });
});

describe("al logs --follow", () => {
  const stream = "GET /api/logs/stream";
  const endless = (text: string): Routes => ({
    ...agentsOf(),
    [stream]: ({ headers, query }, response) => {
      const after = `${String(headers["last-event-id"])} of ${String(query.get("lines"))}`;
      eventStream(response)("log", "dev:1", line("dev", `${text} after ${after}`));
    },
  });

  test("waits for a stopped or starting scheduler, and resumes after the last line", async () => {
    await cli.serve(endless("before"));
    let output = "";
    const test = (text: string) => /again/.test((output = text));
    const ran = cli.interrupt("logs -f -n 5", { test });
    await expect.poll(() => output).toContain("before");
    await cli.operator.close();
    await expect.poll(() => output).toContain("the scheduler is not running; waiting for it");
    const startedAt = new Date().toISOString();
    const unheard = { socketPath: null, gatewayUrl: null, version: "0.1.0" };
    const lock = lockProject(cli.projectDir, { pid: process.pid, startedAt, ...unheard });
    await pause(1500, "the scheduler is starting while al looks for it");
    lock.release();
    await cli.serve(endless("again"));
    const { code, stdout } = await ran;
    expect(code).toBe(130);
    expect(stdout.match(/\w+ after .*/g)).toEqual([
      "before after undefined of 5",
      "again after dev:1 of 5",
    ]);
  });

  test("ends when its output is closed", async () => {
    await cli.serve({
      [stream]: (_request, response) => {
        const send = eventStream(response);
        const timer = setInterval(() => send("log", "dev:1", line("dev", "again")), 20);
        response.on("close", () => clearInterval(timer));
      },
    });
    const ran = await cli.bash("$AL logs -f | head -n 2; echo ${PIPESTATUS[0]}");
    expect(ran.stdout).toMatch(/again\n.*again\n0\n$/);
    expect(ran.stderr).toBe("");
  });

  test("follows an agent's own file without a scheduler, with the lines of one run", async () => {
    const path = writeLog("dev", line("dev", "one"), line("dev", "other", other));
    const ran = cli.interrupt("logs -f dev -i dev-abcd2345", /new 50[^]*following/);
    let count = 0;
    const append = setInterval(() => {
      const lines = [line("dev", "hidden", other), line("dev", `new ${++count}`)];
      appendFileSync(path, textOf(lines));
    }, 20);
    const { code, stdout, stderr } = await ran;
    clearInterval(append);
    expect(code).toBe(130);
    expect(stdout).toMatch(/INFO {2}one\n.* INFO {2}new 1\n.* INFO {2}new 2\n/);
    expect(stdout).not.toMatch(/other|hidden/);
    expect(stderr).toContain("no scheduler is running; following the file of dev");
    await cli.fails("logs -f dew", 'There is no agent "dew"');
  });
});

describe("al logs --grep", () => {
  test("prints a row for each matching line, newest first, without a scheduler or an index", async () => {
    const said = line("dev", "deploy failed: disk full", { time: Date.now() - 2000, kind: "said" });
    writeLog("dev", said);
    writeLog("web", line("web", "nothing"), line("web", "Deploy is done", { level: 50 }));
    const stdout = await cli.output("logs --grep deploy");
    expect(stdout.split("\n").map((row) => row.slice("2026-03-01 09:04:05".length))).toEqual([
      "  web-abcd2345  scheduler  Deploy is done",
      "  dev-abcd2345  said  deploy failed: disk full",
      "",
    ]);
    expect(await cli.json("logs --grep deploy --kind error")).toMatchObject({
      runs: [{ agent: "web", count: 1, matches: [{ isError: true, ranges: [[0, 6]] }] }],
      next: null,
    });
    const oldest = await cli.output("logs --grep deploy --oldest -n 1 -a dev");
    expect(oldest).toContain("disk full");
  });

  test("shows each run with the lines before and after on a terminal, without control sequences", async () => {
    const full = line("dev", "the disk is full", { kind: "said", level: 50 });
    writeLog("dev", line("dev", "line before"), full, line("dev", "\u001b[31mfull\u001b[2J red"));
    const terminal = onTerminal(cli, "logs --grep full");
    await terminal.ended;
    expect(terminal.shown()).toContain("dev-abcd2345  2 lines");
    expect(terminal.shown()).toMatch(/said\s+line before\s+the disk is full\s+full red/);
  });
});
