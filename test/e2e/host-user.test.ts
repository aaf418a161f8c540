import { execFileSync } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { HistoryPage } from "../../src/foundation/contracts/history.ts";
import type { StatusSnapshot } from "../../streams/status/wire.ts";
import type { LogEntry } from "../../streams/vocabulary.ts";
import { whyNoOsUsers } from "../helpers/os-users.ts";
import { copyProject, runAl, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

const missing = whyNoOsUsers();
if (missing !== null) process.stderr.write(`skipped: examples/host-user (${missing})\n`);

let project: TestProject;
let scheduler: TestScheduler | null = null;

afterEach(async () => {
  await scheduler?.stop();
  scheduler = null;
  await project.remove();
});

describe("a scheduler that is killed during a run", { timeout: 120_000 }, () => {
  beforeEach(async () => {
    project = await copyProject("examples/hello");
  });

  /** Starts a run that sleeps between two texts, and kills its scheduler as soon as it is `there`. */
  async function crash(
    there: () => Promise<boolean>,
    sleepSeconds: number,
    timeoutSeconds = 60,
    postSeconds = 0,
  ): Promise<void> {
    const call = `name = "bash"\narguments = { command = "sleep ${sleepSeconds}" }`;
    const script = `[[turns]]\ntext = "before"\n[[turns.tools]]\n${call}\n\n[[turns]]\ntext = "after"\n`;
    await writeFile(join(project.dir, "hello.script.toml"), script);
    const config = join(project.dir, "agents/hello/config.toml");
    const text = await readFile(config, "utf8");
    await writeFile(
      config,
      text
        .replace(/^schedule = .*$/m, 'schedule = "0 0 29 2 *"')
        .replace(/^timeout = .*$/m, `timeout = ${timeoutSeconds}`)
        .concat(`\n[hooks]\npost = ["sleep ${postSeconds}"]\n`),
    );
    scheduler = await startTestScheduler(project);
    await scheduler.api("/control/trigger/hello", { method: "POST" });
    await expect.poll(there, { timeout: 40_000 }).toBe(true);
    await scheduler.kill();
  }

  const firstTextIsLogged = async () => (await messages("tool")).length > 0;
  const lastTextIsLogged = async () => (await messages("said")).length > 1;
  const runHasBegun = async () => /Z keeper \{/.test(await runLog());

  /** What the run itself wrote. */
  async function runLog(): Promise<string> {
    const instanceId = (await entries()).findLast((entry) => entry.instanceId)?.instanceId ?? "";
    return readFile(`/tmp/al-runs/${instanceId}.log`, "utf8").catch(() => "");
  }

  async function again(): Promise<TestScheduler> {
    scheduler = await startTestScheduler(project);
    return scheduler;
  }

  /** The messages of one kind in the agent's log. */
  async function messages(kind: string): Promise<readonly string[]> {
    return (await entries()).filter((entry) => entry.kind === kind).map(({ msg }) => msg);
  }

  async function entries(): Promise<readonly LogEntry[]> {
    const dir = join(project.dir, ".al/logs");
    const files = (await readdir(dir)).filter((name) => name.startsWith("hello-"));
    const texts = await Promise.all(files.map((name) => readFile(join(dir, name), "utf8")));
    const lines = texts.join("").split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as LogEntry);
  }

  async function history(): Promise<HistoryPage["triggers"]> {
    const answer = await scheduler?.api("/api/stats/triggers?kind=manual");
    return ((await answer?.json()) as HistoryPage).triggers;
  }

  const ended = () => expect.poll(history, { timeout: 40_000 });

  test("goes on with it, and it succeeds exactly once with every line once", async () => {
    await crash(firstTextIsLogged, 10);
    const { api, waitForOutput } = await again();
    await waitForOutput(/run resumed, started manually \d+\.\d s ago/);
    const { agents } = (await (await api("/control/status")).json()) as StatusSnapshot;
    expect(agents).toMatchObject([{ name: "hello", state: "running", running: 1 }]);
    await ended().toMatchObject([{ outcome: "succeeded", attempt: 1, exitCode: 0 }]);
    expect(await messages("said")).toEqual(["before", "after"]);
    expect(await messages("tool")).toHaveLength(1);
    expect(await messages("tool-result")).toHaveLength(1);
  });

  test("records the end of one that ended meanwhile, with the time it took", async () => {
    // Without its scheduler no model answers: only what follows the last answer can end.
    await crash(lastTextIsLogged, 1, 60, 4);
    await expect.poll(runLog, { timeout: 40_000 }).toMatch(/Z end \{/);
    const before = Date.now();
    await again();
    await ended().toMatchObject([{ outcome: "succeeded", attempt: 1 }]);
    expect(await messages("said")).toEqual(["before", "after"]);
    const [entry] = await history();
    expect(Date.parse(entry?.endedAt ?? "")).toBeLessThan(before);
  });

  test("lets it time out by its first start", async () => {
    await crash(runHasBegun, 60, 10);
    await again();
    await ended().toMatchObject([{ outcome: "timed_out", exitCode: 124, attempt: 1 }]);
    const [{ durationMs } = { durationMs: null }] = await history();
    expect(durationMs).toBeGreaterThanOrEqual(10_000);
    expect(durationMs).toBeLessThan(15_000);
  });

  test("can kill it", async () => {
    await crash(runHasBegun, 60);
    await again();
    expect(await runAl(project, ["kill", "hello"])).toMatchObject({ code: 0 });
    await ended().toMatchObject([{ outcome: "killed", exitCode: 137 }]);
  });
});

describe.skipIf(missing !== null)("examples/host-user", () => {
  let made = false;
  beforeEach(async () => {
    project = await copyProject("examples/host-user");
    made = !exists("al-agent");
    if (made) execFileSync("useradd", ["--system", "--shell", "/usr/sbin/nologin", "al-agent"]);
  });
  afterEach(() => {
    if (made) execFileSync("userdel", ["al-agent"]);
  });

  test("runs as its own OS user, needs no port, and no image whatever its Dockerfile says", async () => {
    await writeFile(join(project.dir, "agents/outsider/Dockerfile"), "FROM no/such:image\n");
    scheduler = await startTestScheduler(project, { webUi: false });
    expect(scheduler.url).toBe("");
    const { code, stdout } = await runAl(project, ["run", "outsider"]);
    expect({ code, stdout }).toMatchObject({ code: 0 });
    expect(stdout).toMatch(/I am al-agent, working in \/tmp\/al-runs\/outsider-/);
    expect(stdout).toContain("run succeeded");
  });
});

function exists(user: string): boolean {
  try {
    execFileSync("id", [user], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
