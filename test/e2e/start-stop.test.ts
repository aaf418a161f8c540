import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLogSource } from "../../src/foundation/logs/log-source.ts";
import { readSchedulerInfo } from "../../src/foundation/store/project-lock.ts";
import { openStore } from "../../src/foundation/store/store.ts";
import type { StatusSnapshot } from "../../streams/status/wire.ts";
import { builtAl, copyProject, runAl, startTestScheduler } from "../helpers/scheduler.ts";
import type { Finished, TestProject, TestScheduler } from "../helpers/scheduler.ts";

let project: TestProject;
let scheduler: TestScheduler | null;

beforeEach(async () => {
  project = await copyProject("examples/hello");
  scheduler = null;
});
afterEach(async () => {
  await scheduler?.kill();
  await project.remove();
});

/** A run that sleeps until somebody ends it. */
async function startWithLongRun(): Promise<TestScheduler> {
  const call = 'name = "bash"\narguments = { command = "sleep 60" }';
  const script = `[[turns]]\n[[turns.tools]]\n${call}\n\n[[turns]]\ntext = "done"\n`;
  await writeFile(join(project.dir, "hello.script.toml"), script);
  scheduler = await startTestScheduler(project);
  await scheduler.api("/control/trigger/hello", { method: "POST" });
  await scheduler.waitForOutput(/run started/);
  return scheduler;
}

/** What the history of a stopped project says. */
function outcomesOf({ dir }: TestProject): (string | null)[] {
  const store = openStore(dir);
  const { triggers } = store.history.query({ page: 1, limit: 5 });
  store.close();
  return triggers.map(({ outcome }) => outcome);
}

async function startOnTakenPort(): Promise<Finished & { readonly port: number }> {
  const holder = createServer().listen(0, "127.0.0.1");
  await once(holder, "listening");
  const { port } = holder.address() as AddressInfo;
  const finished = await runAl(project, ["start", "-w", "--port", String(port)]);
  holder.close();
  return { ...finished, port };
}

describe("al start", () => {
  test("says where the dashboard and the key are, and what happens, a line each", async () => {
    scheduler = await startTestScheduler(project);
    expect(scheduler.dashboardUrl).toMatch(/^http:\/\/localhost:\d+\/dashboard$/);
    expect(scheduler.output()).toContain(
      `API key:   ${project.home}/credentials/gateway_api_key/default/key`,
    );
    await scheduler.api("/control/trigger/hello", { method: "POST" });
    await scheduler.waitForOutput(/^\d\d:\d\d:\d\d INFO {2}hello run succeeded/m);
  });

  test("goes on when nobody reads its output any more", async () => {
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
    expect(await runAl(project, ["run", "hello"])).toMatchObject({ code: 0 });
    expect(await runAl(project, ["stop"])).toMatchObject({ code: 0, stdout: "stopped\n" });
    expect(await gone).toBe(0);
  });

  test("a second one on the same project says who holds it", async () => {
    scheduler = await startTestScheduler(project);
    const second = await runAl(project, ["start", "--port", "0"]);
    expect(second).toMatchObject({ code: 1, stdout: "" });
    expect(second.stderr).toContain(`pid ${scheduler.pid}`);
    expect(second.stderr).toContain("al stop");
  });

  test("a port that is taken is one clear message", async () => {
    const { code, stderr, port } = await startOnTakenPort();
    expect(code).toBe(1);
    expect(stderr).toContain(String(port));
    expect(stderr).toContain("hint: ");
    expect(stderr).not.toContain("    at ");
    expect(readSchedulerInfo(project.dir)).toBeNull();
  });
});

test("a restart shows the last lines of the scheduler before, and its own after them", async () => {
  scheduler = await startTestScheduler(project);
  await scheduler.api("/control/trigger/hello", { method: "POST" });
  await scheduler.waitForOutput(/run succeeded/);
  await scheduler.stop();
  const query = { agent: null, instanceId: null, lines: 100, after: null };
  const left = await createLogSource(project.dir).read(query);
  scheduler = await startTestScheduler(project);
  const answer = await scheduler.api("/control/status");
  const status = (await answer.json()) as StatusSnapshot;
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

test("a start that fails leaves the runs of a scheduler that died as they are", async () => {
  const { kill, api } = await startWithLongRun();
  const lines = async (): Promise<string> =>
    (await api("/dashboard/api/logs/hello/download")).text();
  await expect.poll(lines, { timeout: 10_000 }).toContain("sleep 60");
  await kill();
  expect((await startOnTakenPort()).code).toBe(1);
  scheduler = await startTestScheduler(project);
  await scheduler.waitForOutput(/run resumed/);
  const { agents } = (await (await scheduler.api("/control/status")).json()) as StatusSnapshot;
  expect(agents).toMatchObject([{ name: "hello", running: 1 }]);
});

describe("a scheduler that is asked to stop", () => {
  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("by %s ends with 0", async (signal) => {
    scheduler = await startTestScheduler(project);
    scheduler.signal(signal);
    expect(await scheduler.exited).toBe(0);
    expect(readSchedulerInfo(project.dir)).toBeNull();
  });

  test("lets the grace period go by for what runs, then ends it", async () => {
    const { exited, signal, output } = await startWithLongRun();
    expect(output()).not.toContain("stopping");
    signal("SIGINT");
    const { stdout } = await runAl(project, ["stat", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ scheduler: { draining: true, running: 1 } });
    expect(await Promise.race([exited, sleep(1000, "still there")])).toBe("still there");
    signal("SIGINT");
    expect(await exited).toBe(130);
    expect(outcomesOf(project)).toEqual([null, "interrupted"]);
  });

  test("takes the Ctrl-C that a terminal and npm both pass on for one", async () => {
    const { exited, signal, waitForOutput } = await startWithLongRun();
    signal("SIGINT");
    await sleep(50);
    signal("SIGINT");
    await waitForOutput(/stopping/);
    expect(await Promise.race([exited, sleep(1000, "still there")])).toBe("still there");
  });

  test("by al stop ends too, and al stat then says that none runs", async () => {
    scheduler = await startTestScheduler(project);
    expect(await runAl(project, ["stat"])).toMatchObject({ code: 0 });
    expect(await runAl(project, ["stop"])).toMatchObject({ code: 0, stdout: "stopped\n" });
    expect(await scheduler.exited).toBe(0);
    const { code, stderr } = await runAl(project, ["stat"]);
    expect(code).toBe(0);
    expect(stderr).toContain("no scheduler is running");
  });

  test("by al stop --now ends what runs at once, as a second Ctrl-C does", async () => {
    const { exited, output } = await startWithLongRun();
    const startedAt = performance.now();
    expect(await runAl(project, ["stop", "--now"])).toMatchObject({ code: 0, stdout: "stopped\n" });
    expect(await exited).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(output()).toContain("stopping now (al stop --now); ending 1 run");
    expect(outcomesOf(project)).toEqual([null, "interrupted"]);
  });

  test("by removing its state says so and ends with 1", async () => {
    scheduler = await startTestScheduler(project);
    await rm(join(project.dir, ".al"), { recursive: true, maxRetries: 5 });
    await scheduler.waitForOutput(/FATAL.*the folder \.al was removed/);
    expect(await scheduler.exited).toBe(1);
    scheduler = await startTestScheduler(project);
    expect(await scheduler.stop()).toBe(0);
  });

  test("leaves after kill -9 nothing that keeps the next from starting", async () => {
    scheduler = await startTestScheduler(project);
    await scheduler.kill();
    scheduler = await startTestScheduler(project);
    expect(await scheduler.stop()).toBe(0);
  });
});
