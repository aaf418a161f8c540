import { initialStatus, reduceStatus, snapshotOf } from "../../../streams/status/reduce-status.ts";
import type { Status, StatusEvent } from "../../../streams/status/reduce-status.ts";
import { schedulerStatus } from "./board.ts";
import { claimOf, eventsOf } from "./events.ts";

const dev = eventsOf("dev");
const ops = eventsOf("ops");

const reduce = (status: Status, event: StatusEvent): Status =>
  reduceStatus(status, event, () => ({}));

const after = (...events: readonly StatusEvent[]): Status =>
  events.reduce(reduce, initialStatus(schedulerStatus));

const namesAfter = (...events: readonly StatusEvent[]): string[] =>
  snapshotOf(after(...events)).agents.map(({ name }) => name);
const rowAfter = (...events: readonly StatusEvent[]) => snapshotOf(after(...events)).agents[0];

const one = [dev.set(), dev.started()];

/** A run of dev or another agent waits for a resource, has it, or does neither any more. */
const waits = (resource = "file:x", agent = "dev") =>
  ({ type: "lock-status", claim: claimOf(agent, resource, false) }) as const;
const has = (resource = "file:x", agent = "dev") =>
  ({ type: "lock-status", claim: claimOf(agent, resource) }) as const;
const ends = (resource = "file:x", agent = "dev") =>
  ({ type: "lock-status-ended", claim: claimOf(agent, resource) }) as const;

const question = (id: string, isOpen = true) =>
  ({ type: "question", id, agent: "dev", instanceId: "dev-1", isOpen }) as const;

const paused = { type: "scheduler", patch: { paused: true } } as const;

test.each<[what: string, events: readonly StatusEvent[], agent: string | null, isWhole?: boolean]>([
  ["a start", one, "dev", true],
  ["a pause", [paused], null, true],
  ["a question", [...one, question("a")], "dev"],
  ["the same question", [...one, question("a"), question("a")], null],
  ["a question of an unknown agent", [dev.set(), { ...question("c"), agent: "nobody" }], null],
])(
  "the status says which agent changed, and whether the scheduler changed, after %s",
  (_what, events, agent, scheduler = false) => {
    expect(after(...events).change).toMatchObject({ agent, scheduler });
  },
);

test("the status lists held and awaited locks by resource until they end", () => {
  const before = after(has("file:x", "ops"), has("file:a", "ops"), waits());
  const { claim } = waits();
  const [a, x] = [has("file:a", "ops").claim, has("file:x", "ops").claim];
  expect(snapshotOf(before).locks).toEqual([a, claim, x]);
  const none = { agent: null, scheduler: false, logs: [], lists: [] };
  expect(before.change).toEqual({ ...none, claim });
  const given = [ends("file:x", "ops"), has()].reduce(reduce, before);
  expect(snapshotOf(given).locks).toEqual([a, has().claim]);
  expect(reduce(given, ends("file:x", "ops")).change.claim).toBeNull();
});

test.each<[state: string, how: string, events: readonly StatusEvent[]]>([
  ["running", "once its run stopped waiting", [...one, waits(), ends()]],
  [
    "waiting: person",
    "until all questions have ended",
    [...one, question("a"), question("b"), question("a", false)],
  ],
  ["running", "once its question has ended", [...one, question("a"), question("a", false)]],
  ["waiting: lock", "until its run waits for no lock", [...one, waits(), waits("file:y"), ends()]],
  [
    "waiting: lock",
    "while its run waits if it waited before it had a row",
    [waits(), ...one, ends(), waits("file:y")],
  ],
])("the status shows an agent as %j %s", (state, _how, events) => {
  const row = rowAfter(...events);
  expect([row?.state, row?.blockedBy ?? []].flat().join(": ")).toBe(state);
});

const both = [dev.set(), ops.set(), dev.nextRun(1), ops.nextRun(1), dev.started()];

test.each<[what: string, events: readonly StatusEvent[], running: number, cronJobs: number]>([
  [
    "agents after a run and a schedule have ended",
    [...both, ops.nextRun(null), dev.finished()],
    0,
    1,
  ],
  ["agents that are not removed", [...both, ops.removed()], 1, 1],
])("the status counts runs and schedules of %s", (_what, events, running, cronJobs) => {
  expect(after(...events).scheduler).toMatchObject({ running, cronJobs });
});

const removed = [dev.set(), dev.removed()];
const running = [...one, dev.removed()];
const waiting = [dev.set(), dev.depth(2), dev.removed()];

test.each<[what: string, names: string[], events: readonly StatusEvent[]]>([
  [
    "a row for each agent, by name",
    ["abc", "dev", "ops"],
    [ops.set(), dev.set(), eventsOf("abc").invalid()],
  ],
  ["a row for a removed agent that runs", ["dev"], running],
  ["a row for a removed agent with queued work", ["dev"], waiting],
  ["no row for a removed agent once its queue is empty", [], [...waiting, dev.depth(0)]],
  [
    "no row for an agent that ran after its removal",
    [],
    [...removed, dev.started(), dev.finished()],
  ],
  ...[dev.depth(0), dev.finished()].map((word): [string, string[], StatusEvent[]] => [
    `no row for a removed agent after ${word.type}`,
    [],
    [...removed, word],
  ]),
])("the status has %s", (_what, names, events) => expect(namesAfter(...events)).toEqual(names));

test("the status shows work that began after an agent's removal when the agent returns", () => {
  const back = [...removed, dev.started(), dev.depth(3), dev.set()];
  expect(rowAfter(...back)).toMatchObject({ running: 1, queued: 3 });
  expect(after(...back, dev.finished()).scheduler.running).toBe(0);
});

const numbers = (from: number) => Array.from({ length: 20 }, (_, index) => index + from);

test("the status keeps the latest twenty log lines, numbered without a gap, each cut to 500 characters", () => {
  const many = Array.from({ length: 30 }, (_, index) => dev.output(`line ${index}`, "run"));
  const { recentLogs } = snapshotOf(after(...many, dev.output("x".repeat(600), "run")));
  expect(recentLogs.map(({ seq }) => seq)).toEqual(numbers(12));
  const last = { msg: "x".repeat(500), agent: "dev", instanceId: "dev-1" };
  expect(recentLogs.slice(-2)).toMatchObject([{ msg: "line 29" }, last]);
});

test("the status omits texts, usage and tool output of runs from the latest log lines", () => {
  const lines = ["said", "usage", "tool", "tool-output"].map((kind) => dev.output(kind, kind));
  const { recentLogs, change } = after(dev.output("run started", "run"), ...lines);
  expect(recentLogs).toMatchObject([{ msg: "run started" }]);
  expect(change.logs).toEqual([]);
});

test("the status begins with the last log lines of earlier schedulers, and continues their numbers", () => {
  const earlier = Array.from({ length: 30 }, (_, time) => ({
    level: 30 as const,
    time,
    agent: "dev",
    msg: time === 29 ? "x".repeat(600) : `line ${time}`,
  }));
  const first = initialStatus(schedulerStatus, earlier);
  expect(first.change.logs).toEqual([]);
  const { recentLogs } = snapshotOf(first);
  expect(recentLogs.map(({ seq }) => seq)).toEqual(numbers(1));
  expect(recentLogs[0]).toMatchObject({ msg: "line 10", instanceId: null });
  expect(recentLogs.at(-1)?.msg).toHaveLength(500);
  const next = reduce(first, dev.output("new", "run"));
  expect(next.recentLogs.map(({ seq }) => seq)).toEqual(numbers(2));
  expect(next.change.logs).toEqual([next.recentLogs.at(-1)]);
  expect(next.recentLogs.at(-1)).toMatchObject({ msg: "new" });
});

test("the status keeps log lines of the scheduler and of agents without a row", () => {
  const entry = { level: 40, time: 0, msg: "paused", agent: "scheduler" } as const;
  const all = after(dev.refused("rejected", "gone"), { type: "scheduler-log", entry });
  const time = "1970-01-01T00:00:00.000Z";
  const last = { ...entry, seq: 2, time, instanceId: null };
  expect(all.recentLogs).toEqual([expect.objectContaining({ msg: "rejected: gone" }), last]);
  expect(all.change.logs).toEqual([last]);
});
