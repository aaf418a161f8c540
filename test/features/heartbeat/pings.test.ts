import { createSendRequest } from "../../../src/foundation/contracts/outgoing-request.ts";
import { createPinger, pingOf, type Ping } from "../../../src/features/heartbeat/pings.ts";
import type { Outcome, RunEvent, WorkItem } from "../../../streams/vocabulary.ts";
import { monitorServer, uuid, type MonitorServer } from "./monitor-server.ts";

let server: MonitorServer;
let warnings: string[];
let now: number;
beforeEach(async () => {
  server = await monitorServer();
  warnings = [];
  now = 0;
});
afterEach(() => server.close());

function pinger(retryMs: readonly number[] = [], timeoutMs = 500) {
  const send = createSendRequest({ proxyEnv: {}, timeoutMs });
  const warn = (message: string) => warnings.push(message);
  return createPinger({ send, warn, now: () => now, retryMs });
}

/** Pings one after another, without waiting in between. */
async function sent(path: string, pings: readonly Ping[], retryMs?: readonly number[]) {
  const { ping, idle } = pinger(retryMs);
  for (const one of pings) ping("agent dev", `${server.url}${path}`, one);
  await idle();
}

const started: Ping = { type: "started", ms: 0 };
const succeeded: Ping = { type: "succeeded", ms: 1234.5 };
const failed: Ping = { type: "failed", ms: 50, reason: "dev-1 failed: größer & kürzer" };
const well: Ping = { type: "well", ms: 1.4 };

describe("pings of Healthchecks.io", () => {
  const path = `/ping/${uuid}`;

  test.each([
    [[well], ["success"], "up", false],
    [[started], ["start"], "new", true],
    [[started, succeeded], ["start", "success"], "up", false],
    [[started, failed], ["start", "fail: dev-1 failed: größer & kürzer"], "down", false],
  ] as const)("%j", async (pings, kinds, status, isStarted) => {
    const check = server.check(uuid);
    await sent(path, pings);
    expect(check).toEqual({ pings: kinds, status, started: isStarted });
    expect(warnings).toEqual([]);
  });

  test("an address with a slash and a query keeps both meanings", async () => {
    const check = server.check(uuid);
    await sent(`${path}/?create=1`, [started, failed]);
    expect(check.pings.map((one) => one.split(":")[0])).toEqual(["start", "fail"]);
  });

  test("an unknown check is a warning, though the status is 200", async () => {
    await sent(path, [well]);
    expect(warnings).toEqual([
      `the heartbeat of agent dev was not taken: ${host()} answers "not found"`,
    ]);
  });
});

describe("pings of Uptime Kuma", () => {
  test.each([
    [[well], ["up: OK"], "up"],
    [[started], [], "new"],
    [[started, succeeded], ["up: OK"], "up"],
    [[started, failed], ["down: dev-1 failed: größer & kürzer"], "down"],
  ] as const)("%j", async (pings, kinds, status) => {
    const monitor = server.monitor("abc123");
    await sent("/api/push/abc123?status=up&msg=OK&ping=", pings);
    expect(monitor).toEqual({ pings: kinds, status, started: false });
    expect(warnings).toEqual([]);
  });

  test("an unknown monitor is a warning", async () => {
    await sent("/api/push/gone", [well]);
    expect(warnings).toEqual([
      `the heartbeat of agent dev was not taken: ${host()} answers with status 404`,
    ]);
  });

  test("an old version rejects with status 200", async () => {
    server.fault = (_request, response) => response.end('{"ok":false,"msg":"not active"}');
    await sent("/api/push/abc123", [well]);
    expect(warnings.join()).toContain('answers "not active"');
  });

  test("a rejection that repeats the address is logged without it", async () => {
    server.fault = (_request, response) => response.end('{"ok":false,"msg":"no s3cretpushkey"}');
    await sent("/api/push/s3cretpushkey", [well]);
    expect(warnings.join()).toContain('answers "no [redacted]"');
  });
});

const path = `/ping/${uuid}`;

test("a monitor in trouble gets one request at a time; of each type only the latest waits", async () => {
  const check = server.check(uuid);
  server.delay = 50;
  const runs = Array.from({ length: 100 }, () => [started, failed]).flat();
  await sent(path, [...runs, started, succeeded]);
  expect(server.seen).toEqual({ requests: 3, atOnce: 1 });
  expect(check.pings.map((one) => one.split(":")[0])).toEqual(["fail", "start", "success"]);
  expect(check.status).toBe("up");
});

test("a monitor in trouble delays no other monitor", async () => {
  const monitor = server.monitor("abc123");
  const hanging = await monitorServer();
  hanging.delay = 10_000;
  const { ping, idle } = pinger([], 2_000);
  ping("the project", `${hanging.url}${path}`, well);
  ping("agent dev", `${server.url}/api/push/abc123`, succeeded);
  await expect.poll(() => monitor.status, { interval: 5 }).not.toBe("new");
  expect(warnings).toEqual([]);
  await idle();
  expect(warnings.join()).toContain("no whole answer within 2 s");
  await hanging.close();
});

test("a monitor in trouble gets only the end of a run again", async () => {
  const check = server.check(uuid);
  let faults = 4;
  server.fault = (_request, response) => {
    faults -= 1;
    if (faults === 0) server.fault = null;
    response.writeHead(503).end();
  };
  await sent(path, [well, started, failed], [10, 10, 10]);
  expect(check.pings).toEqual(["fail: dev-1 failed: größer & kürzer"]);
  expect(server.seen.requests).toBe(5);
});

test("a monitor in trouble does not get the end of a run again once another run has ended", async () => {
  const check = server.check(uuid);
  server.fault = (_request, response) => {
    server.fault = null;
    response.writeHead(503).end();
  };
  const { ping, idle } = pinger([200]);
  const url = `${server.url}${path}`;
  ping("agent dev", url, failed);
  await new Promise((resolve) => setTimeout(resolve, 100));
  ping("agent dev", url, { ...failed, reason: "later" });
  await idle();
  expect(check.pings).toEqual(["fail: later"]);
});

test("a monitor in trouble causes one warning an hour, without its address", async () => {
  server.fault = (_request, response) => {
    response.writeHead(302, { location: `${server.url}${path}` }).end();
  };
  const { ping, idle } = pinger();
  for (let minute = 0; minute < 120; minute += 1) {
    ping("the project", `${server.url}${path}`, well);
    await idle();
    now += 60_000;
  }
  const line = `the heartbeat of the project was not taken: ${host()} answers with status 302`;
  expect(warnings).toEqual([line, `${line} (and 59 more like it before)`]);
  expect(warnings.join()).not.toContain(uuid);
  expect(server.seen.requests).toBe(120);
});

test("a monitor in trouble that does not exist is a warning", async () => {
  await server.close();
  await sent(path, [well]);
  expect(warnings.join()).toContain("ECONNREFUSED");
});

const host = () => new URL(server.url).host;

const item: WorkItem = {
  id: "w1",
  agent: "dev",
  at: 0,
  attempt: 1,
  trigger: { kind: "cron", scheduledFor: 0 },
};
const run = { agent: "dev", instanceId: "dev-1", startedAt: 1_000, at: 4_000 };

function finished(outcome: Outcome, attempt = 1, reason: string | null = "why"): RunEvent {
  const end = { outcome, exitCode: 1, reason, usage: null };
  return { ...run, type: "finished", item: { ...item, attempt }, end };
}

describe("a run's event, to the monitor of its agent", () => {
  test("a start", () => {
    const { agent, instanceId, at, startedAt } = run;
    expect(pingOf({ type: "started", agent, at, item, instanceId })).toEqual({
      type: "started",
      ms: 0,
    });
    expect(pingOf({ type: "started", agent, at, item, instanceId, startedAt })).toBeNull();
  });

  test("a success", () =>
    expect(pingOf(finished("succeeded"))).toEqual({ type: "succeeded", ms: 3_000 }));

  test.each([
    ["failed", 1, "dev-1 failed: why"],
    ["timed_out", 1, "dev-1 timed out: why"],
    ["out_of_memory", 1, "dev-1 out of memory: why"],
    ["over_budget", 1, "dev-1 over budget: why"],
    ["lost", 2, "dev-1 lost: why"],
  ] as const)("%s at attempt %s is a failure", (outcome, attempt, reason) => {
    const ping = { type: "failed", ms: 3_000, reason };
    expect(pingOf(finished(outcome, attempt))).toEqual(ping);
  });

  test.each([
    ["killed", 1],
    ["interrupted", 1],
    ["interrupted", 2],
    ["lost", 1],
  ] as const)("%s at attempt %s is neither", (outcome, attempt) => {
    expect(pingOf(finished(outcome, attempt))).toBeNull();
  });

  test("a long reason is cut", () => {
    const ping = pingOf(finished("failed", 1, "x".repeat(1000)));
    expect(ping?.reason?.length).toBe(300);
  });

  test("other events send no ping", () =>
    expect(pingOf({ type: "queued", agent: "dev", at: 0, item })).toBeNull());
});
