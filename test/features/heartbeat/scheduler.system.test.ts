import { commandAgents } from "../../helpers/command-agents.ts";
import type { LiveProject } from "../../helpers/live-project.ts";
import { monitorServer, uuid, type MonitorServer } from "./monitor-server.ts";

let server: MonitorServer;
let project: LiveProject;

beforeEach(async () => {
  server = await monitorServer();
  project = await commandAgents(() => ({ good: "true", bad: "al-exit 7" }));
});

const otherUuid = uuid.replace("8f", "9f");

/** `[heartbeat]` of an agent, or of the project for an empty name. */
function heartbeat(agent: string, path: string): Promise<void> {
  const file = agent === "" ? "config.toml" : `agents/${agent}/config.toml`;
  return project.append(file, `\n[heartbeat]\nurl = "${server.url}${path}"\n`);
}

test("a healthy scheduler and its agents' runs ping their monitors, and the last pings are sent before the scheduler ends", async () => {
  const check = server.create(uuid);
  const good = server.create("good");
  await heartbeat("", `/ping/${uuid}`);
  await heartbeat("good", "/api/push/good");
  const bad = server.create(otherUuid);
  await heartbeat("bad", `/ping/${otherUuid}`);
  const { stop } = await project.start();
  await project.trigger("good", "bad");
  await expect.poll(() => good).toEqual(["up: OK"]);
  await expect.poll(() => bad).toHaveLength(2);
  expect(bad).toEqual(["start", expect.stringMatching(/^fail: bad-\w+ failed: .*7/)]);
  await expect.poll(() => check).toEqual(["success"]);

  server.delay = 700;
  await project.al("run", "bad");
  await stop();
  expect(bad).toHaveLength(4);
  expect(bad.at(-1)).toMatch(/^fail/);
});

test("a run without a scheduler pings no monitor", async () => {
  await heartbeat("good", `/ping/${uuid}`);
  await heartbeat("", `/ping/${uuid}`);
  await project.print("run", "good");
  expect(server.seen.requests).toBe(0);
});

test("a hanging monitor delays the end of the scheduler by two seconds", async () => {
  await heartbeat("bad", "/api/push/bad");
  server.delay = 60_000;
  const { stop } = await project.start();
  await project.al("run", "bad");
  const from = performance.now();
  await stop();
  const tookMs = performance.now() - from;
  expect(tookMs).toBeGreaterThan(1_500);
  expect(tookMs).toBeLessThan(50_000);
});
