import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { commandAgents, startAgents } from "../../helpers/command-agents.ts";
import { runAl, startTestScheduler } from "../../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../../helpers/scheduler.ts";
import { monitorServer, uuid } from "./monitor-server.ts";
import type { MonitorServer } from "./monitor-server.ts";

let server: MonitorServer;
let project: TestProject;
let scheduler: TestScheduler | null;

beforeEach(async () => {
  scheduler = null;
  server = await monitorServer();
  project = await commandAgents(() => ({ good: "true", bad: "al-exit 7" }));
});
afterEach(async () => {
  await scheduler?.stop();
  await project.remove();
  await server.close();
});

/** `[heartbeat]` of an agent, or of the project for an empty name. */
async function heartbeat(agent: string, path: string): Promise<void> {
  const file = agent === "" ? "config.toml" : join("agents", agent, "config.toml");
  await appendFile(join(project.dir, file), `\n[heartbeat]\nurl = "${server.url}${path}"\n`);
}

async function start(): Promise<TestScheduler> {
  scheduler = await startTestScheduler(project);
  return scheduler;
}

test("a scheduler that is well pings, and so do the runs of its agents", async () => {
  const check = server.check(uuid);
  const [good, bad] = [server.monitor("good"), server.monitor("bad")];
  await heartbeat("", `/ping/${uuid}`);
  await heartbeat("good", "/api/push/good");
  await heartbeat("bad", "/api/push/bad");
  await startAgents(await start(), "good", "bad");
  await expect.poll(() => good.pings, { timeout: 20_000 }).toEqual(["up: OK"]);
  await expect.poll(() => bad.pings, { timeout: 20_000 }).toHaveLength(1);
  expect(bad.pings[0]).toMatch(/^down: bad-\w+ failed: .*7/);
  await expect.poll(() => check.pings, { timeout: 20_000 }).toEqual(["success"]);
});

test("a run's start and its failure reach its check", async () => {
  const check = server.check(uuid);
  await heartbeat("bad", `/ping/${uuid}`);
  await startAgents(await start(), "bad");
  await expect.poll(() => check.pings, { timeout: 20_000 }).toHaveLength(2);
  expect(check.pings).toEqual(["start", expect.stringMatching(/^fail: bad-\w+ failed: /)]);
});

test("a run without a scheduler pings no monitor", async () => {
  await heartbeat("good", `/ping/${uuid}`);
  await heartbeat("", `/ping/${uuid}`);
  expect((await runAl(project, ["run", "good"])).code).toBe(0);
  expect(server.seen.requests).toBe(0);
});

test("a scheduler whose store is held by another process sends none, and logs why", async () => {
  server.check(uuid);
  await heartbeat("", `/ping/${uuid}`);
  const { waitForOutput } = await start();
  const other = new DatabaseSync(join(project.dir, ".al/state.db"));
  other.exec("BEGIN EXCLUSIVE");
  await waitForOutput(/no heartbeat is sent while .* its store takes no writes/, 25_000);
  other.exec("ROLLBACK");
  other.close();
  expect(server.seen.requests).toBe(0);
});

test("the last pings are sent before the scheduler ends, and a monitor that hangs holds it for two seconds", async () => {
  const check = server.check(uuid);
  await heartbeat("good", `/ping/${uuid}`);
  await heartbeat("bad", "/api/push/bad");
  const { stop } = await start();
  server.delay = 700;
  await runAl(project, ["run", "good"]);
  await stop();
  expect(check.pings).toEqual(["start", "success"]);

  server.delay = 60_000;
  const second = await start();
  await runAl(project, ["run", "bad"]);
  const from = performance.now();
  await second.stop();
  const tookMs = performance.now() - from;
  expect(tookMs).toBeGreaterThan(1_500);
  expect(tookMs).toBeLessThan(10_000);
});
