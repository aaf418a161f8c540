import { openStore } from "../../src/features/open-store.ts";
import { spawn } from "node:child_process";
import { rm } from "node:fs/promises";
import { createServer } from "node:net";
import { getPriority } from "node:os";
import { readSchedulerInfo } from "../../src/foundation/store/project-lock.ts";
import { commandAgents, until } from "../helpers/command-agents.ts";
import { slowly, type LiveProject } from "../helpers/live-project.ts";
import { pause } from "../helpers/pause.ts";
import { builtAl, type TestScheduler } from "../helpers/scheduler.ts";
import { listen } from "../helpers/listen.ts";

let project: LiveProject;

beforeEach(async () => {
  project = await commandAgents((dir) => ({
    hello: `nice > '${dir}/nice'`,
    long: `echo >> '${dir}/began'; ${until(`${dir}/go`)}`,
  }));
});

/** A scheduler with a run that does not end by itself. */
async function startWithLongRun(): Promise<TestScheduler> {
  const scheduler = await project.start();
  await project.trigger("long");
  await scheduler.waitForOutput(/run started/);
  return scheduler;
}

/** Waits until so many runs have begun: one whose process received no request does not count as an attempt. */
const begun = (runs: number) =>
  expect.poll(() => project.read("began").catch(() => ""), slowly).toHaveLength(runs);

/** Outcomes in the history of a stopped project, the latest first. */
function outcomes(): (string | null)[] {
  const store = openStore(project.dir);
  const { triggers } = store.history.query({ page: 1, limit: 5 });
  store.close();
  return triggers.map(({ outcome }) => outcome);
}

test("al start keeps running after its output is closed, at a higher priority than its runs", async () => {
  const args = ["start", "--web-ui", "--port", "0", "--project", project.dir];
  const child = spawn(process.execPath, [builtAl, ...args], {
    env: { ...process.env, AL_HOME: project.home },
    stdio: ["ignore", "pipe", "ignore"],
  });
  child.stdout.once("data", () => child.stdout.destroy());
  const gone = new Promise((done) => child.once("close", done));
  await expect.poll(() => readSchedulerInfo(project.dir)?.gatewayUrl, slowly).toBeTruthy();
  await project.print("run", "hello");
  expect(Number(await project.read("nice"))).toBeGreaterThan(getPriority(child.pid));
  await project.print("stop");
  expect(await gone).toBe(0);
});

test("al start on a port in use fails with a hint, and does not touch the runs of a killed scheduler", async () => {
  const { kill, api } = await startWithLongRun();
  const lines = async () => (await api("/dashboard/api/logs/long/download")).text();
  await expect.poll(lines, slowly).toContain("sleep 0.1");
  await kill();
  const holder = createServer();
  const port = await listen(holder);
  const { code, stderr } = await project.al("start", "-w", "--port", String(port));
  holder.close();
  expect([code, stderr]).toEqual([1, expect.stringMatching(new RegExp(`${port}.*\\nhint: `))]);
  expect(readSchedulerInfo(project.dir)).toBeNull();
  const { waitForOutput } = await project.start();
  await waitForOutput(/run resumed/);
  expect(await project.agent("long")).toMatchObject({ running: 1 });
});

test("a restarted scheduler first shows the previous one's last lines, and exits with 0 when its terminal closes", async () => {
  const { waitForOutput, stop } = await project.start();
  await project.trigger("hello");
  await waitForOutput(/run succeeded/);
  const before = (await project.status()).recentLogs.map(({ msg }) => msg);
  await stop();
  const second = await project.start();
  const { recentLogs } = await project.status();
  const texts = recentLogs.map(({ msg }) => msg);
  expect(texts.slice(0, before.length)).toEqual(before);
  expect(texts.length).toBeGreaterThan(before.length + 1);
  const [{ seq: first } = { seq: 0 }] = recentLogs;
  expect(recentLogs.map(({ seq }) => seq)).toEqual(recentLogs.map((_, at) => first + at));
  second.signal("SIGHUP");
  expect(await second.exited).toBe(0);
});

test("a second Ctrl-C ends the grace period of runs, but not a Ctrl-C that a terminal and npm both forward", async () => {
  const { exited, signal } = await startWithLongRun();
  signal("SIGINT");
  await pause(50, "npm forwards what the terminal sent already");
  signal("SIGINT");
  const draining = { scheduler: { draining: true, running: 1 } };
  await expect.poll(() => project.status()).toMatchObject(draining);
  const still = pause(1000, "the run may take its grace period", "still there");
  expect(await Promise.race([exited, still])).toBe("still there");
  signal("SIGINT");
  expect(await exited).toBe(130);
  expect(outcomes()).toEqual([null, "interrupted"]);
});

test("al stop --now ends runs at once; they are interrupted and retried once, and al run exits with 143", async () => {
  const first = await project.start();
  const watched = project.al("run", "long");
  await begun(1);
  await project.print("stop", "--now");
  expect(await first.exited).toBe(0);
  expect(first.output()).toContain("stopping now (al stop --now); ending 1 run");
  const { code, stderr } = await watched;
  expect([code, stderr]).toEqual([143, expect.stringMatching(/interrupted after/)]);
  expect(outcomes()).toEqual([null, "interrupted"]);
  const second = await project.start();
  await begun(2);
  await project.print("stop", "--now");
  expect(await second.exited).toBe(0);
  expect(outcomes()).toEqual(["interrupted", "interrupted"]);
});

test("a scheduler whose state is removed ends with 1, and the next one starts anew", async () => {
  const scheduler = await project.start();
  await rm(project.path(".al"), { recursive: true, maxRetries: 5 });
  await scheduler.waitForOutput(/FATAL.*the folder \.al was removed/);
  expect(await scheduler.exited).toBe(1);
  expect(await (await project.start()).stop()).toBe(0);
});
