import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { cliProject, eventStream, problem, snapshotOf, type Asked } from "./fake-operator.ts";
import { onTerminal } from "./terminal.ts";
import { lockProject } from "../../../src/foundation/store/project-lock.ts";

const cli = cliProject();

function line(agent: string, msg: string, time = Date.now(), rest: object = {}) {
  return { level: 30, time, msg, agent, instanceId: `${agent}-abcd2345`, ...rest };
}

/** The UTC day of log files. */
function today(): string {
  return new Date().toISOString().slice(0, 10);
}

/** Writes an agent's log of today. */
function writeLog(agent: string, ...lines: object[]): void {
  const dir = join(cli.projectDir, ".al/logs");
  mkdirSync(dir, { recursive: true });
  const text = lines.map((each) => `${JSON.stringify(each)}\n`).join("");
  writeFileSync(join(dir, `${agent}-${today()}.log`), text);
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(20);
}

test("al logs prints existing lines without a scheduler, with levels and indented breaks", async () => {
  writeLog("dev", line("dev", "one\ntwo"), line("dev", "bad", Date.now(), { level: 50 }));
  const stdout = await cli.output(["logs", "dev"]);
  expect(stdout).toMatch(/^\d\d:\d\d:\d\d INFO {2}one\n {4}two\n\d\d:\d\d:\d\d ERROR bad\n$/);
});

test("al logs mixes all agents by time and names them", async () => {
  const now = Date.now();
  writeLog("dev", line("dev", "second", now - 1000));
  writeLog("review", line("review", "first", now - 2000), line("review", "third", now));
  const { stdout } = await cli.al(["logs"]);
  expect(stdout.match(/(dev|review) \w+/g)).toEqual(["review first", "dev second", "review third"]);
});

test("al logs -n, -i and --since limit the lines", async () => {
  const other = { instanceId: "dev-other222" };
  const old = Date.now() - 3_600_000;
  writeLog(
    "dev",
    line("dev", "old", old),
    line("dev", "new"),
    line("dev", "other", Date.now(), other),
  );
  const messages = async (...args: string[]) => {
    const { stdout } = await cli.al(["logs", "dev", "--json", ...args]);
    return (JSON.parse(stdout) as { entries: { msg: string }[] }).entries.map(({ msg }) => msg);
  };
  expect(await messages("-n", "1")).toEqual(["other"]);
  expect(await messages("-i", "dev-other222")).toEqual(["other"]);
  expect(await messages("--since", "10m")).toEqual(["new", "other"]);
});

test("al logs distinguishes an agent that hasn't run from an unknown one", async () => {
  mkdirSync(join(cli.projectDir, "agents/review"), { recursive: true });
  expect(await cli.al(["logs", "review"])).toMatchObject({ code: 0, stdout: "" });
  const unknown = await cli.al(["logs", "reveiw"]);
  expect(unknown).toMatchObject({ code: 1, stdout: "" });
  expect(unknown.stderr).toContain('did you mean "review"?');
});

test("al logs of a missing target reports a directory that is not a project", async () => {
  const ran = await cli.al(["logs", "-p", join(cli.projectDir, "..")]);
  expect(ran).toMatchObject({ code: 1, stdout: "" });
  expect(ran.stderr).toContain("not a project");
});

test("al logs of a missing target reports a run without a line as unknown", async () => {
  writeLog("dev", line("dev", "one"));
  const ran = await cli.al(["logs", "-i", "dev-xxxxxxxx"]);
  expect(ran).toMatchObject({ code: 1, stdout: "" });
  expect(ran.stderr).toContain("no log lines of a run dev-xxxxxxxx");
});

test("al logs --follow prints lines as they come and resumes a cut stream without loss or repeat", async () => {
  const after: unknown[] = [];
  await cli.serve({
    "GET /control/status": () => snapshotOf([]),
    "GET /api/logs/stream": ({ headers, query }: Asked, response: ServerResponse) => {
      after.push([headers["last-event-id"], query.get("lines")]);
      const send = eventStream(response);
      if (after.length === 1) {
        send("log", "dev:1", line("dev", "one"));
        setTimeout(() => response.destroy(), 50);
      } else if (after.length === 2) {
        send("log", "dev:2", line("dev", "two"));
      }
    },
  });
  const { code, stdout } = await cli.interrupt(["logs", "-f", "-n", "5"], /two/);
  expect(code).toBe(130);
  expect(stdout.match(/dev (one|two)/g)).toEqual(["dev one", "dev two"]);
  expect(after).toEqual([
    [undefined, "5"],
    ["dev:1", "5"],
  ]);
});

test("al logs --follow waits for a stopped scheduler and resumes at the same line", async () => {
  const stream =
    (text: string) =>
    ({ headers }: Asked, response: ServerResponse) => {
      eventStream(response)(
        "log",
        "dev:1",
        line("dev", `${text} after ${String(headers["last-event-id"])}`),
      );
    };
  await cli.serve({ "GET /api/logs/stream": stream("before") });
  let output = "";
  const test = (text: string) => /again/.test((output = text));
  const ran = cli.interrupt(["logs", "-f"], { test });
  await until(() => cli.operator.asked.length === 1);
  await cli.operator.close();
  await until(() => output.includes("waiting for it"));
  await cli.serve({
    "GET /control/status": () => snapshotOf([]),
    "GET /api/logs/stream": stream("again"),
  });
  const { stdout, stderr } = await ran;
  expect(stdout).toContain("before after undefined");
  expect(stdout).toContain("again after dev:1");
  expect(stderr).toContain("waiting for it");
});

test("al logs --follow waits for a scheduler that is starting", async () => {
  await cli.serve({
    "GET /api/logs/stream": (_request, response) =>
      void eventStream(response)("log", "dev:1", line("dev", "before")),
  });
  const ran = cli.interrupt(["logs", "-f"], /again/);
  await until(() => cli.operator.asked.length === 1);
  await cli.operator.close();
  const startedAt = new Date().toISOString();
  const unheard = { socketPath: null, gatewayUrl: null, version: "0.1.0" };
  const lock = lockProject(cli.projectDir, { pid: process.pid, startedAt, ...unheard });
  await sleep(1500);
  lock.release();
  await cli.serve({
    "GET /control/status": () => snapshotOf([]),
    "GET /api/logs/stream": (_request, response) =>
      void eventStream(response)("log", "dev:2", line("dev", "again")),
  });
  const { code, stdout } = await ran;
  expect(code).toBe(130);
  expect(stdout).toContain("again");
});

test("al logs --follow ends when its reader closes the output", async () => {
  await cli.serve({
    "GET /api/logs/stream": (_request, response) => {
      const send = eventStream(response);
      const timer = setInterval(() => send("log", "dev:1", line("dev", "again")), 20);
      response.on("close", () => clearInterval(timer));
    },
  });
  const ran = await cli.bash("$AL logs -f | head -n 2; echo ${PIPESTATUS[0]}");
  expect(ran.stdout).toMatch(/again\n.*again\n0\n$/);
  expect(ran.stderr).toBe("");
});

test("al logs --follow follows an agent's own file without a scheduler, with the lines of one run", async () => {
  const other = { instanceId: "dev-other222" };
  writeLog("dev", line("dev", "one"), line("dev", "two"), line("dev", "other", 0, other));
  const ran = cli.interrupt(["logs", "-f", "dev", "-i", "dev-abcd2345"], /new 50/);
  const path = join(cli.projectDir, `.al/logs/dev-${today()}.log`);
  let count = 0;
  const append = setInterval(() => {
    for (const one of [line("dev", "hidden", 0, other), line("dev", `new ${++count}`)])
      appendFileSync(path, `${JSON.stringify(one)}\n`);
  }, 20);
  const { code, stdout, stderr } = await ran;
  clearInterval(append);
  expect(code).toBe(130);
  expect(stdout).toMatch(/INFO {2}one\n.* INFO {2}two\n.* INFO {2}new 1\n.* INFO {2}new 2\n/);
  expect(stdout).not.toMatch(/other|hidden/);
  expect(stderr).toContain("no scheduler is running; following the file of dev");
  expect(await cli.al(["logs", "-f"])).toMatchObject({ code: 1, stdout: "" });
  const slip = await cli.al(["logs", "-f", "dew"]);
  expect(slip.stderr).toContain('there is no agent "dew"');
});

test("al logs --follow ends at an unknown agent with a similar name", async () => {
  await cli.serve({
    "GET /control/status": () => snapshotOf([]),
    "GET /dashboard/api/logs/nobody/stream": (_request, response) =>
      problem(response, 404, "unknown_agent", "no"),
  });
  const stderr = await cli.failure(["logs", "-f", "nobody"]);
  expect(stderr).toContain('there is no agent "nobody"');
});

const words = ["logs", "--grep"];

test("al logs --grep prints a row for each line that matches, newest first, without a scheduler and an index", async () => {
  const now = Date.now();
  writeLog("dev", line("dev", "deploy failed: disk full", now - 2000, { kind: "said" }));
  writeLog("web", line("web", "nothing"), line("web", "Deploy is done", now, { level: 50 }));
  const stdout = await cli.output([...words, "deploy"]);
  expect(stdout.split("\n").map((row) => row.slice("2026-03-01 09:04:05".length))).toEqual([
    "  web-abcd2345  scheduler  Deploy is done",
    "  dev-abcd2345  said  deploy failed: disk full",
    "",
  ]);
  expect(await cli.json([...words, "deploy", "--kind", "error"])).toMatchObject({
    runs: [{ agent: "web", count: 1, matches: [{ isError: true, ranges: [[0, 6]] }] }],
    next: null,
  });
  const oldest = await cli.al([...words, "deploy", "--oldest", "-n", "1", "-a", "dev"]);
  expect(oldest.stdout).toContain("disk full");
});

test("al logs --grep shows each run with the lines around on a terminal, without control sequences", async () => {
  const instanceId = { instanceId: "dev-abcd2345" };
  writeLog(
    "dev",
    line("dev", "line before", Date.now(), instanceId),
    line("dev", "the disk is full", Date.now(), { kind: "said", level: 50 }),
    line("dev", "\u001b[31mfull\u001b[2J red", Date.now(), instanceId),
  );
  const terminal = onTerminal(cli, ["logs", "--grep", "full"]);
  await terminal.ended;
  expect(terminal.shown()).toContain("dev-abcd2345  2 lines");
  expect(terminal.shown()).toMatch(/said\s+line before\s+the disk is full\s+full red/);
});

test("al logs --grep reports that nothing matches, and what is wrong with a search", async () => {
  writeLog("dev", line("dev", "one"));
  expect(await cli.al([...words, "two"])).toMatchObject({
    code: 0,
    stdout: "",
    stderr: "no matching lines\n",
  });
  const ofRun = await cli.al([...words, "two", "-i", "dev-abcd2345"]);
  expect(ofRun).toMatchObject({ code: 0, stderr: "no matching lines\n" });
  const none = await cli.al(["logs", "--grep=.."]);
  expect(none.stderr).toContain("the search has no word");
  const alone = await cli.al(["logs", "--oldest"]);
  expect(alone).toMatchObject({ code: 2 });
  expect(alone.stderr).toContain("need --grep");
  const both = await cli.al([...words, "one", "-f"]);
  expect(both).toMatchObject({ code: 2 });
  const unknown = await cli.al(["logs", "nope", "--grep", "one"]);
  expect(unknown.code).toBe(1);
});
