import type { Outcome } from "../../../streams/outcomes.ts";
import { createSendRequest } from "../../../src/foundation/contracts/outgoing-request.ts";
import { createPinger, pingOf, type Ping } from "../../../src/features/heartbeat/pings.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import { anItem } from "../../helpers/agents.ts";
import { pause } from "../../helpers/pause.ts";
import { monitorServer, uuid, type MonitorServer } from "./monitor-server.ts";

let server: MonitorServer;
let warnings: string[];
let now: number;
beforeEach(async () => {
  server = await monitorServer();
  warnings = [];
  now = 0;
});

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

/** The next requests get this status. */
function failing(times: number, status = 503, headers = {}): void {
  server.fault = () => {
    if (--times === 0) server.fault = null;
    return { status, headers };
  };
}

const kinds = (pings: readonly string[]) => pings.map((one) => one.split(":")[0]);

const path = `/ping/${uuid}`;
const started: Ping = { type: "started", ms: 0 };
const succeeded: Ping = { type: "succeeded", ms: 1234.5 };
const failed = { type: "failed", ms: 50, reason: "dev-1 failed: größer & kürzer" } as const;
const well: Ping = { type: "well", ms: 1.4 };

const cause = failed.reason;

test.each<[string, readonly Ping[], readonly string[]]>([
  ["Healthchecks.io", [well], ["success"]],
  ["Healthchecks.io", [started, succeeded], ["start", "success"]],
  ["Healthchecks.io", [started, failed], ["start", `fail: ${cause}`]],
  ["Uptime Kuma", [well], ["up: OK"]],
  ["Uptime Kuma", [started, succeeded], ["up: OK"]],
  ["Uptime Kuma", [started, failed], [`down: ${cause}`]],
])("the monitor %s understands the pings %j", async (service, pings, texts) => {
  const isKuma = service === "Uptime Kuma";
  const watched = server.create(isKuma ? "abc123" : uuid);
  await sent(isKuma ? "/api/push/abc123?status=up&msg=OK&ping=" : path, pings);
  expect(watched).toEqual(texts);
  expect(warnings).toEqual([]);
});

test("a monitor's address with a slash and a query still gets start and failure pings", async () => {
  const check = server.create(uuid);
  await sent(`${path}/?create=1`, [started, failed]);
  expect(kinds(check)).toEqual(["start", "fail"]);
});

test.each([
  ['"not found" with status 200', path, null, '"not found"'],
  ["an unknown monitor", "/api/push/gone", null, "with status 404"],
  ['"rate limited" with status 200', "/api/push/a", "not active", '"not active"'],
  [
    "one that contains the ping address, which is redacted",
    "/api/push/s3cretpushkey",
    "no s3cretpushkey",
    '"no [redacted]"',
  ],
])("a refused ping logs a warning that quotes the answer: %s", async (_, at, msg, text) => {
  if (msg !== null)
    server.fault = () => ({ status: 200, body: JSON.stringify({ ok: false, msg }) });
  await sent(at, [well]);
  expect(warnings).toEqual([
    `the heartbeat of agent dev was not accepted: ${host()} answers ${text}`,
  ]);
});

test("a monitor that does not respond gets one request at a time; of each type of ping only the latest waits", async () => {
  const check = server.create(uuid);
  server.delay = 50;
  const runs = Array.from({ length: 100 }, () => [started, failed]).flat();
  await sent(path, [...runs, started, succeeded]);
  expect(server.seen).toEqual({ requests: 3, atOnce: 1 });
  expect(kinds(check)).toEqual(["fail", "start", "success"]);
});

test("a monitor that does not respond delays no other monitor", async () => {
  const monitor = server.create("abc123");
  const hanging = await monitorServer();
  hanging.delay = 10_000;
  const { ping, idle } = pinger([], 2_000);
  ping("the project", `${hanging.url}${path}`, well);
  ping("agent dev", `${server.url}/api/push/abc123`, succeeded);
  await expect.poll(() => monitor, { interval: 5 }).toHaveLength(1);
  expect(warnings).toEqual([]);
  await idle();
  expect(warnings.join()).toContain("no whole answer within 2 s");
});

test("a failed ping is repeated only if it reports the end of a run", async () => {
  const check = server.create(uuid);
  failing(4);
  await sent(path, [well, started, failed], [10, 10, 10]);
  expect(check).toEqual([`fail: ${cause}`]);
  expect(server.seen.requests).toBe(5);
});

test("a failed ping about the end of a run is not repeated once another run has ended", async () => {
  const check = server.create(uuid);
  failing(1);
  const { ping, idle } = pinger([200]);
  const url = `${server.url}${path}`;
  ping("agent dev", url, failed);
  await pause(100, "the retry waits meanwhile");
  ping("agent dev", url, { ...failed, reason: "later" });
  await idle();
  expect(check).toEqual(["fail: later"]);
});

test("a failing monitor causes one warning an hour without its address", async () => {
  failing(Infinity, 302, { location: `${server.url}${path}` });
  const { ping, idle } = pinger();
  for (let minute = 0; minute < 120; minute += 1) {
    ping("the project", `${server.url}${path}`, well);
    await idle();
    now += 60_000;
  }
  const line = `the heartbeat of the project was not accepted: ${host()} answers with status 302`;
  expect(warnings).toEqual([line, `${line} (and 59 more like it before)`]);
  expect(warnings.join()).not.toContain(uuid);
  expect(server.seen.requests).toBe(120);
});

const host = () => new URL(server.url).host;

const item = anItem("w1");
const run = { agent: "dev", at: 4_000, item, instanceId: "dev-1" };

const finished = (outcome: Outcome, attempt = 1, reason = "why"): RunEvent => ({
  ...run,
  type: "finished",
  startedAt: 1_000,
  item: { ...item, attempt },
  end: { outcome, exitCode: 1, reason, usage: null },
});
const failure = (reason: string): Ping => ({ type: "failed", ms: 3_000, reason });

test.each<[string, RunEvent, Ping | null]>([
  ["a start is a start", { ...run, type: "started" }, started],
  ["an adoption is null", { ...run, type: "started", startedAt: 1_000 }, null],
  ["another event is null", { type: "queued", agent: "dev", at: 0, item }, null],
  ["a success is a success", finished("succeeded"), { type: "succeeded", ms: 3_000 }],
  ["a failure is a failure", finished("failed"), failure("dev-1 failed: why")],
  ["a loss on the last attempt is a failure", finished("lost", 2), failure("dev-1 lost: why")],
  ["a loss that is retried is null", finished("lost"), null],
  ["a kill is null", finished("killed"), null],
  ["an interruption on the last attempt is null", finished("interrupted", 2), null],
])("the type of ping that is sent for %s", (_, event, ping) => {
  expect(pingOf(event)).toEqual(ping);
});

test("a long reason in a ping about a failure is cut", () => {
  expect(pingOf(finished("failed", 1, "x".repeat(1000)))?.reason).toHaveLength(300);
});
