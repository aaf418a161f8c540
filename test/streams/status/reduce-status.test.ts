import type { AgentRecord } from "../../../streams/status/agent-record.ts";
import { initialStatus, reduceStatus, snapshotOf } from "../../../streams/status/reduce-status.ts";
import type { Status, StatusEvent } from "../../../streams/status/reduce-status.ts";
import { CountingMap, schedulerStatus } from "./board.ts";
import { claimOf, eventsOf } from "./events.ts";

const dev = eventsOf("dev");
const ops = eventsOf("ops");

const reduce = (status: Status, event: StatusEvent): Status =>
  reduceStatus(status, event, () => ({}));

const after = (...events: readonly StatusEvent[]): Status =>
  events.reduce(reduce, initialStatus(schedulerStatus));

const names = (status: Status): string[] => snapshotOf(status).agents.map(({ name }) => name);

test("the status is only the scheduler at first", () => {
  const snapshot = snapshotOf(initialStatus(schedulerStatus));
  expect(snapshot).toEqual({ scheduler: schedulerStatus, agents: [], recentLogs: [], locks: [] });
});

test("the status has a row for each agent, by name", () =>
  expect(names(after(ops.set(), dev.set(), eventsOf("abc").invalid()))).toEqual([
    "abc",
    "dev",
    "ops",
  ]));

test("the status begins a row with its stored switch and last run", () => {
  const seed = (name: string): Partial<AgentRecord> => ({ enabled: name !== "dev", lastRunAt: 5 });
  const status = reduceStatus(initialStatus(schedulerStatus), dev.set(), seed);
  expect(snapshotOf(status).agents[0]).toMatchObject({
    enabled: false,
    lastRunAt: "1970-01-01T00:00:00.005Z",
  });
});

test("the status names the agent that the last event changed, and whether the scheduler's row did", () => {
  const change = (...events: readonly StatusEvent[]) => {
    const { agent, scheduler } = after(...events).change;
    return [agent, scheduler];
  };
  expect(change(dev.set())).toEqual(["dev", false]);
  expect(change(dev.set(), dev.started())).toEqual(["dev", true]);
  expect(change(dev.set(), dev.nextRun(9))).toEqual(["dev", true]);
  expect(change(dev.set(), dev.nextRun(9), dev.nextRun(19))).toEqual(["dev", false]);
  expect(change(dev.set(), dev.queued())).toEqual([null, false]);
  expect(change({ type: "scheduler", patch: { paused: true } })).toEqual([null, true]);
});

test("the status has the scheduler's own events", () => {
  const status = after({ type: "scheduler", patch: { paused: true, error: "no such model" } });
  expect(status.scheduler).toEqual({ ...schedulerStatus, paused: true, error: "no such model" });
});

test("the status holds the locks of runs, held and awaited, by resource, until they end", () => {
  const [waits, holds] = [claimOf("dev", "file:x", false), claimOf("dev", "file:x")];
  const before = after(
    { type: "lock-status", claim: claimOf("ops", "file:x") },
    { type: "lock-status", claim: claimOf("ops", "file:a") },
    { type: "lock-status", claim: waits },
  );
  const shown = snapshotOf(before).locks.map(({ resource, agent }) => `${resource} ${agent}`);
  expect(shown).toEqual(["file:a ops", "file:x dev", "file:x ops"]);
  expect(before.change).toEqual({
    agent: null,
    scheduler: false,
    logs: [],
    claim: waits,
    lists: [],
  });
  const ended = reduce(before, { type: "lock-status-ended", claim: claimOf("ops", "file:x") });
  const given = reduce(ended, { type: "lock-status", claim: holds });
  expect(snapshotOf(given).locks).toEqual([claimOf("ops", "file:a"), holds]);
  const again = reduce(given, { type: "lock-status-ended", claim: claimOf("ops", "file:x") });
  expect(again.change.claim).toBeNull();
});

test("the status shows an agent as waiting while all its runs wait for locks", () => {
  const [waits, holds] = [claimOf("dev", "file:x", false), claimOf("dev", "file:x")];
  const rowOf = (status: ReturnType<typeof after>) => snapshotOf(status).agents[0];
  const waiting = after(dev.set(), dev.started(), { type: "lock-status", claim: waits });
  expect(rowOf(waiting)).toMatchObject({ state: "waiting", blockedBy: "lock" });
  expect(waiting.change).toMatchObject({ agent: "dev", claim: waits });
  const repeated = reduce(waiting, { type: "lock-status", claim: waits });
  const holding = reduce(repeated, { type: "lock-status", claim: holds });
  expect(rowOf(holding)).toMatchObject({ state: "running", blockedBy: null });
  const given = reduce(waiting, { type: "lock-status-ended", claim: waits });
  expect(rowOf(given)).toMatchObject({ state: "running", blockedBy: null });
});

test("the status shows an agent as waiting for a person until all questions of its runs have ended", () => {
  const question = (id: string, isOpen = true) =>
    ({ type: "question", id, agent: "dev", instanceId: "dev-1", isOpen }) as const;
  const rowOf = (status: ReturnType<typeof after>) => snapshotOf(status).agents[0];
  const asking = after(dev.set(), dev.started("dev-1"), question("a"), question("b"));
  expect(rowOf(asking)).toMatchObject({ state: "waiting", blockedBy: "person" });
  expect(asking.change).toMatchObject({ agent: "dev" });
  expect(reduce(asking, question("a")).change.agent).toBeNull();
  const one = reduce(asking, question("a", false));
  expect(rowOf(one)).toMatchObject({ state: "waiting" });
  const none = reduce(one, question("b", false));
  expect(rowOf(none)).toMatchObject({ state: "running", blockedBy: null });
  expect(reduce(none, { ...question("c"), agent: "nobody" }).change.agent).toBeNull();
});

test("the status counts runs that wait for locks, not their waits", () => {
  const [x, y] = [claimOf("dev", "file:x", false), claimOf("dev", "file:y", false)];
  const wait = (claim: typeof x) => ({ type: "lock-status", claim }) as const;
  const end = (claim: typeof x) => ({ type: "lock-status-ended", claim }) as const;
  const stateAfter = (...events: readonly StatusEvent[]) =>
    snapshotOf(after(...events)).agents[0]?.state;
  const two = [dev.set({ scale: 2 }), dev.started("dev-2"), dev.started(x.instanceId)];
  expect(stateAfter(...two, wait(x), wait(y))).toBe("running");
  const one = [dev.set(), dev.started(x.instanceId), wait(x), wait(y)];
  expect(stateAfter(...one, end(x))).toBe("waiting");
  // A wait that began before its agent had a record is no wait less when it ends.
  expect(stateAfter(wait(x), ...one.slice(0, 2), end(x), wait(y))).toBe("waiting");
  // The claims of a run may end after it.
  expect(stateAfter(...two, wait(x), dev.finished())).toBe("running");
});

test("the status counts runs and schedules over all agents", () => {
  const counts = (...events: readonly StatusEvent[]) => {
    const { running, cronJobs } = after(...events).scheduler;
    return [running, cronJobs];
  };
  const both = [dev.set(), ops.set(), dev.nextRun(1), ops.nextRun(1), dev.started()];
  expect(counts(...both)).toEqual([1, 2]);
  expect(counts(...both, ops.nextRun(null), dev.finished())).toEqual([0, 1]);
  expect(counts(...both, ops.removed())).toEqual([1, 1]);
});

test("the status keeps the row of a removed agent until nothing of it runs or waits", () => {
  const running = [dev.set(), dev.started(), dev.removed()];
  expect(names(after(dev.set(), dev.removed()))).toEqual([]);
  expect(names(after(...running))).toEqual(["dev"]);
  expect(names(after(...running, dev.finished()))).toEqual([]);
  const waiting = [dev.set(), dev.depth(2), dev.removed()];
  expect(names(after(...waiting))).toEqual(["dev"]);
  expect(names(after(...waiting, dev.depth(0)))).toEqual([]);
});

test("the status does not restore a row for an agent's last words", () => {
  const gone = [dev.set(), dev.removed()];
  const words = [dev.nextRun(null), dev.depth(0), dev.enabled(true), dev.finished()];
  for (const word of words) {
    const status = after(...gone, word);
    expect(names(status)).toEqual([]);
    expect(status.change.agent).toBeNull();
  }
});

test("the status counts correctly when work begins after the directory was removed, and it returns", () => {
  const back = [dev.set(), dev.removed(), dev.started(), dev.depth(3), dev.set()];
  const [row] = snapshotOf(after(...back)).agents;
  expect(row).toMatchObject({ running: 1, queued: 3 });
  expect(after(...back, dev.finished()).scheduler.running).toBe(0);
  expect(names(after(dev.set(), dev.removed(), dev.started(), dev.finished()))).toEqual([]);
});

test("the status keeps the latest twenty lines, numbered without a gap, each cut to 500 characters", () => {
  const many = Array.from({ length: 30 }, (_, index) => dev.output(`line ${index}`, "run"));
  const { recentLogs } = snapshotOf(after(...many, dev.output("x".repeat(600), "run")));
  expect(recentLogs.map(({ seq }) => seq)).toEqual(
    Array.from({ length: 20 }, (_, index) => index + 12),
  );
  expect(recentLogs.at(-2)).toMatchObject({ msg: "line 29", agent: "dev", instanceId: "dev-1" });
  expect(recentLogs.at(-1)?.msg).toHaveLength(500);
});

test("the status keeps texts, usage and output of runs out of the latest lines", () => {
  const lines = ["said", "usage", "tool", "tool-output"].map((kind) => dev.output(kind, kind));
  const { recentLogs, change } = after(dev.output("run started", "run"), ...lines);
  expect(recentLogs.map(({ msg }) => msg)).toEqual(["run started"]);
  expect(change.logs).toEqual([]);
});

test("the status begins with the last lines of earlier schedulers, and counts on from them", () => {
  const earlier = Array.from({ length: 30 }, (_, index) => ({
    ...({ level: 30, time: index, agent: "dev" } as const),
    msg: index === 29 ? "x".repeat(600) : `line ${index}`,
  }));
  const first = initialStatus(schedulerStatus, earlier);
  expect(first.change.logs).toEqual([]);
  const { recentLogs } = snapshotOf(first);
  expect(recentLogs.map(({ seq }) => seq)).toEqual(
    Array.from({ length: 20 }, (_, index) => index + 1),
  );
  expect(recentLogs[0]).toMatchObject({ msg: "line 10", instanceId: null });
  expect(recentLogs.at(-1)?.msg).toHaveLength(500);
  const next = reduce(first, dev.output("new", "run"));
  expect(next.recentLogs).toHaveLength(20);
  expect(next.recentLogs[0]).toMatchObject({ seq: 2, msg: "line 11" });
  expect(next.change.logs).toEqual([next.recentLogs.at(-1)]);
  expect(next.recentLogs.at(-1)).toMatchObject({ seq: 21, msg: "new" });
});

test("the status keeps lines of the scheduler and of agents without a row", () => {
  const entry = { level: 40, time: 0, msg: "paused", agent: "scheduler" } as const;
  const { recentLogs, change } = after(dev.refused("rejected", "gone"), {
    type: "scheduler-log",
    entry,
  });
  expect(recentLogs.map(({ msg }) => msg)).toEqual(["rejected: gone", "paused"]);
  expect(change.logs.map(({ msg }) => msg)).toEqual(["paused"]);
  expect(recentLogs[1]).toEqual({
    seq: 2,
    time: "1970-01-01T00:00:00.000Z",
    level: 40,
    agent: "scheduler",
    instanceId: null,
    msg: "paused",
  });
});

test.each([10, 1000])("the status visits one record per event, with %i agents", (count) => {
  const records = new CountingMap<AgentRecord>();
  let status: Status = { ...initialStatus(schedulerStatus), records };
  for (let index = 0; index < count; index++) {
    status = reduce(status, eventsOf(`agent-${index}`).set());
  }
  const events = eventsOf("agent-7");
  records.touched = 0;
  for (const event of [events.started(), events.output("hello"), events.finished()]) {
    status = reduce(status, event);
  }
  expect(records.touched).toBeLessThanOrEqual(6);
  expect(status.scheduler.running).toBe(0);
});
