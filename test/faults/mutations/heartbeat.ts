import type { Mutation } from "../mutation.ts";

const request = "src/foundation/contracts/outgoing-request.ts";
const requests = "test/foundation/contracts/outgoing-request.test.ts";
const health = "src/features/heartbeat/health.ts";
const pinger = "src/features/heartbeat/pinger.ts";
const pings = "test/features/heartbeat/pinger.test.ts";

/** What holds while hosts that are sent to are slow, hostile or gone, and the scheduler is not well. */
export const heartbeat: readonly Mutation[] = [
  {
    defence: "a request to a host that an operator named is over in time",
    file: request,
    find: "AbortSignal.timeout(timeoutMs)",
    replace: "AbortSignal.timeout(timeoutMs * 1_000)",
    tests: [requests],
    only: "is over in time",
  },
  {
    defence: "an answer without end is not read to its end",
    file: request,
    find: "if (bytes >= maxAnswerBytes) break;",
    replace: "",
    tests: [requests],
    only: "reads 64 KiB",
  },
  {
    defence: "a proxy that does not respond holds no connection",
    file: request,
    find: "{ proxyEnv, timeout: timeoutMs + 500 }",
    replace: "{ proxyEnv }",
    tests: [requests],
    only: "a proxy that does not respond",
  },
  {
    defence: "a scheduler whose event loop is late is not well",
    file: health,
    find: "if (lagMs > maxLagMs) return",
    replace: "if (lagMs > maxLagMs * 1_000) return",
    tests: ["test/features/heartbeat/health.test.ts"],
    only: "an event loop that is late",
  },
  {
    defence: "a scheduler whose store takes no writes is not well",
    file: health,
    find: "    await write();\n",
    replace: "    void write;\n",
    tests: ["test/features/heartbeat/health.test.ts"],
    only: "a store that another process holds",
  },
  {
    defence: "a scheduler whose schedules are late is not well",
    file: health,
    find: "nextRunAt < now() - maxOverdueMs",
    replace: "nextRunAt < 0",
    tests: ["test/features/heartbeat/health.test.ts"],
    only: "schedules that are due",
  },
  {
    defence: "a scheduler that is not well sends no heartbeat",
    file: "src/features/heartbeat/beats.ts",
    find: "if (problem !== null) {",
    replace: "if (problem !== null && lagMs < 0) {",
    tests: ["test/features/heartbeat/health.test.ts"],
    only: "does not come while it is not",
  },
  {
    defence: "a slow monitor collects no pings, and has one request at a time",
    file: pinger,
    find: "if (busy.has(heartbeat.url)) return;",
    replace: "",
    tests: [pings],
    only: "is asked once at a time",
  },
  {
    defence: "a monitor that is down does not fill the log",
    file: pinger,
    find: "const warnEveryMs = 3_600_000;",
    replace: "const warnEveryMs = 0;",
    tests: [pings],
    only: "is a warning an hour",
  },
  {
    defence: "the address of a monitor is in no log",
    file: pinger,
    find: "`${address.host} answers with status ${status}`",
    replace: "`${address.href} answers with status ${status}`",
    tests: [pings],
    only: "without its address",
  },
  {
    defence: "a monitor that hangs does not hold a scheduler that stops",
    file: "src/start/heartbeats.ts",
    find: "race(pinger.idle(), timer(lastPingsMs))",
    replace: "pinger.idle()",
    tests: ["test/features/heartbeat/scheduler.test.ts"],
    only: "the last pings",
    built: true,
  },
  {
    defence: "a scheduler that took long to stop is not taken for one that died",
    file: "src/start/housekeeping.ts",
    find: "takeUntil(stopping$)",
    replace: "takeUntil(EMPTY)",
    tests: ["test/start/housekeeping.test.ts"],
  },
];
