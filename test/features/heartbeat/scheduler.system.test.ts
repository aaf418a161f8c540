import { commandAgents } from "../../helpers/command-agents.ts";
import type { LiveProject } from "../../helpers/live-project.ts";
import { monitorServer, uuid, type MonitorServer } from "./monitor-server.ts";

let server: MonitorServer;
let project: LiveProject;

beforeEach(async () => {
  server = await monitorServer();
  project = await commandAgents(() => ({ good: "true", bad: "al-exit 7" }));
});

/** `[heartbeat]` of an agent, or of the project for an empty name. */
function heartbeat(agent: string, path: string): Promise<void> {
  const file = agent === "" ? "config.toml" : `agents/${agent}/config.toml`;
  return project.append(file, `\n[heartbeat]\nurl = "${server.url}${path}"\n`);
}

test("the last pings of runs are sent before the scheduler ends", async () => {
  const bad = server.create(uuid);
  await heartbeat("bad", `/ping/${uuid}`);
  const { stop } = await project.start();
  server.delay = 700;
  await project.al("run", "bad");
  await stop();
  expect(bad).toEqual(["start", expect.stringMatching(/^fail: bad-\w+ failed: .*7/)]);
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
