import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createLogSource } from "../../src/foundation/logs/log-source.ts";
import { readSchedulerInfo } from "../../src/foundation/store/project-lock.ts";
import { openStore } from "../../src/foundation/store/store.ts";
import { commandAgents, until } from "../helpers/command-agents.ts";
import type { LiveProject } from "../helpers/live-project.ts";
import { builtAl, type Finished, type TestScheduler } from "../helpers/scheduler.ts";

let project: LiveProject;

beforeEach(async () => {
  project = await commandAgents((dir) => ({ hello: "date", long: until(`${dir}/go`) }));
});

/** A scheduler with a run that does not end by itself. */
async function startWithLongRun(): Promise<TestScheduler> {
  const scheduler = await project.start();
  await project.trigger("long");
  await scheduler.waitForOutput(/run started/);
  return scheduler;
}

/** Outcomes in the history of a stopped project, the latest first. */
function outcomes(): (string | null)[] {
  const store = openStore(project.dir);
  const { triggers } = store.history.query({ page: 1, limit: 5 });
  store.close();
  return triggers.map(({ outcome }) => outcome);
}

async function startOnTakenPort(): Promise<Finished & { readonly port: number }> {
  const holder = createServer().listen(0, "127.0.0.1");
  await once(holder, "listening");
  const { port } = holder.address() as AddressInfo;
  const finished = await project.al("start", "-w", "--port", String(port));
  holder.close();
  return { ...finished, port };
}

test("al start prints where the dashboard and the key are and one line for each event, keeps a second scheduler out, and ends by al stop", async () => {
  const scheduler = await project.start();
  expect(scheduler.dashboardUrl).toMatch(/^http:\/\/localhost:\d+\/dashboard$/);
  expect(scheduler.output()).toContain(
    `API key:   ${project.home}/credentials/gateway_api_key/default/key`,
  );
  await project.trigger("hello");
  await scheduler.waitForOutput(/^\d\d:\d\d:\d\d INFO {2}hello run succeeded/m);
  const second = await project.al("start", "--port", "0");
  expect(second).toMatchObject({ code: 1, stdout: "" });
  expect(second.stderr).toContain(`pid ${scheduler.pid}`);
  expect(second.stderr).toContain("al stop");
  expect(await project.al("stat")).toMatchObject({ code: 0 });
  expect(await project.al("stop")).toMatchObject({ code: 0, stdout: "stopped\n" });
  expect(await scheduler.exited).toBe(0);
  const { code, stderr } = await project.al("stat");
  expect(code).toBe(0);
  expect(stderr).toContain("no scheduler is running");
});

test("al start keeps running after its output is closed", async () => {
  const args = ["start", "--web-ui", "--port", "0", "--project", project.dir];
  const child = spawn(process.execPath, [builtAl, ...args], {
    env: { ...process.env, AL_HOME: project.home },
    stdio: ["ignore", "pipe", "ignore"],
  });
  child.stdout.once("data", () => child.stdout.destroy());
  const gone = new Promise((done) => child.once("close", done));
  await expect
    .poll(() => readSchedulerInfo(project.dir)?.gatewayUrl, { timeout: 20_000 })
    .toBeTruthy();
  expect(await project.al("run", "hello")).toMatchObject({ code: 0 });
  expect(await project.al("stop")).toMatchObject({ code: 0, stdout: "stopped\n" });
  expect(await gone).toBe(0);
});

test("al start reports a taken port in one message with a hint", async () => {
  const { code, stderr, port } = await startOnTakenPort();
  expect(code).toBe(1);
  expect(stderr).toContain(String(port));
  expect(stderr).toContain("hint: ");
  expect(stderr).not.toContain("    at ");
  expect(readSchedulerInfo(project.dir)).toBeNull();
});

test("a restarted scheduler shows the last lines of the one before, then its own", async () => {
  const scheduler = await project.start();
  await project.trigger("hello");
  await scheduler.waitForOutput(/run succeeded/);
  await scheduler.stop();
  const query = { agent: null, instanceId: null, lines: 100, after: null };
  const left = await createLogSource(project.dir).read(query);
  await project.start();
  const status = await project.status();
  const { recentLogs } = status;
  const earlier = recentLogs.filter(({ time }) => time < status.scheduler.startedAt);
  expect(earlier.length).toBeGreaterThan(3);
  expect(earlier).toEqual(recentLogs.slice(0, earlier.length));
  const events = left.filter(
    ({ entry: { kind, instanceId, level } }) =>
      instanceId === undefined || kind === "run" || level >= 50,
  );
  const texts = events.map(({ entry }) => entry.msg.slice(0, 500));
  expect(earlier.map(({ msg }) => msg)).toEqual(texts.slice(-earlier.length));
  const own = recentLogs.slice(earlier.length).map(({ msg }) => msg);
  expect(own.length).toBeGreaterThan(0);
  expect(recentLogs.length).toBe(Math.min(20, texts.length + own.length));
  const firstSeq = recentLogs[0]?.seq ?? 0;
  expect(recentLogs.map(({ seq }) => seq)).toEqual(recentLogs.map((_, i) => firstSeq + i));
});

test("a failed start leaves the runs of a killed scheduler as they are", async () => {
  const { kill, api } = await startWithLongRun();
  const lines = async (): Promise<string> =>
    (await api("/dashboard/api/logs/long/download")).text();
  await expect.poll(lines, { timeout: 10_000 }).toContain("sleep 0.1");
  await kill();
  expect((await startOnTakenPort()).code).toBe(1);
  const next = await project.start();
  await next.waitForOutput(/run resumed/);
  expect(await project.agent("long")).toMatchObject({ running: 1 });
});

test.each(["SIGINT", "SIGHUP"] as const)(
  "a stop of the scheduler by %s ends with 0",
  async (signal) => {
    const scheduler = await project.start();
    scheduler.signal(signal);
    expect(await scheduler.exited).toBe(0);
    expect(readSchedulerInfo(project.dir)).toBeNull();
  },
);

test("a stop of the scheduler gives runs their grace period, which a second Ctrl-C ends, but not one that a terminal and npm both forward", async () => {
  const { exited, signal, output } = await startWithLongRun();
  expect(output()).not.toContain("stopping");
  signal("SIGINT");
  await sleep(50);
  signal("SIGINT");
  const draining = { scheduler: { draining: true, running: 1 } };
  await expect.poll(() => project.status()).toMatchObject(draining);
  expect(await Promise.race([exited, sleep(1000, "still there")])).toBe("still there");
  signal("SIGINT");
  expect(await exited).toBe(130);
  expect(outcomes()).toEqual([null, "interrupted"]);
});

test("a stop of the scheduler by al stop --now ends runs at once, as a second Ctrl-C does", async () => {
  const { exited, output } = await startWithLongRun();
  const startedAt = performance.now();
  expect(await project.al("stop", "--now")).toMatchObject({ code: 0, stdout: "stopped\n" });
  expect(await exited).toBe(0);
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  expect(output()).toContain("stopping now (al stop --now); ending 1 run");
  expect(outcomes()).toEqual([null, "interrupted"]);
});

test("a stop of the scheduler by removal of its state is fatal and ends with 1", async () => {
  const scheduler = await project.start();
  await rm(project.path(".al"), { recursive: true, maxRetries: 5 });
  await scheduler.waitForOutput(/FATAL.*the folder \.al was removed/);
  expect(await scheduler.exited).toBe(1);
  expect(await (await project.start()).stop()).toBe(0);
});
