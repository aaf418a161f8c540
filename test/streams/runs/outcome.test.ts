import type { StopReason } from "../../../streams/outcomes.ts";
import { reasonInTime, runEnd } from "../../../streams/runs/outcome.ts";
import type { RunnerExit } from "../../../streams/runs/runner.ts";
import type { RunEnd } from "../../../streams/vocabulary.ts";
import { anItem } from "../../helpers/agents.ts";
import { exitOf } from "../../helpers/stream-runner.ts";

const work = { agent: { timeoutSeconds: 9 }, item: anItem("1") };

type Row = [
  what: string,
  exit: Partial<RunnerExit>,
  stopped: StopReason | null,
  outcome: RunEnd["outcome"],
  exitCode: number | null,
  reason: string | null,
];

const term = { exitCode: null, signal: "SIGTERM" };
const memory = { exitCode: 137, outOfMemory: true };
const sudo = { exitCode: null, rejected: "no sudo" };
const late = "ran longer than its timeout of 9 s (timeout of the agent, or of [local])";
const interrupted =
  "the scheduler was stopped before the run was done; its work is tried once more at the next start";
const full = "ran out of memory (the limit is [local].memory)";
const usage = { model: "scripted", tokens: 12, costUsd: 0, turns: 1 };

test.each<Row>([
  ["succeeds with code 0", {}, null, "succeeded", 0, null],
  ["fails with its exit code", { exitCode: 3 }, null, "failed", 3, "exited with code 3"],
  ["fails with the error that it reports", { error: "no key" }, null, "failed", 1, "no key"],
  ["fails when a signal from elsewhere ends it", term, null, "failed", 1, "ended by SIGTERM"],
  [
    "fails without an exit code and an error",
    { exitCode: null },
    null,
    "failed",
    1,
    "exited with code 1",
  ],
  ["times out even when it exits with 0 on SIGTERM", {}, "timed_out", "timed_out", 124, late],
  ["is killed even when it exits with 0 on SIGTERM", {}, "killed", "killed", 137, null],
  [
    "is interrupted when it exits with 143",
    { exitCode: 143 },
    "interrupted",
    "interrupted",
    143,
    interrupted,
  ],
  ["succeeds when it exits with 0 as it is interrupted", {}, "interrupted", "succeeded", 0, null],
  ["runs out of memory", memory, null, "out_of_memory", 137, full],
  ["succeeds even if a child ran out of memory", { outOfMemory: true }, null, "succeeded", 0, null],
  ["is rejected with the reason of its runner", sudo, null, "rejected", null, "no sudo"],
  ["is rejected, not killed, when it never started", sudo, "killed", "rejected", null, "no sudo"],
])("a run %s, and keeps its usage", (_what, exit, stopped, outcome, exitCode, reason) => {
  const end = { outcome, exitCode, reason, usage };
  expect(runEnd(exitOf({ ...exit, usage }), stopped, work)).toEqual(end);
});

test("a run that was interrupted twice is not retried", () => {
  const again = { ...work, item: { ...work.item, attempt: 2 } };
  expect(runEnd(exitOf(term), "interrupted", again).reason).toContain(
    "its work is not retried, because this was the second attempt",
  );
});

test.each([
  ["unanswered", 125, {}, null],
  ["failed", 1, { error: "no key" }, null],
  ["interrupted", 143, {}, "interrupted"],
  ["killed", 137, {}, "killed"],
] as const)(
  "a run whose question is open is %s, with code %i",
  (outcome, exitCode, exit, stopped) => {
    const asking = { ...work, unanswered: "Deploy?" };
    expect(runEnd(exitOf(exit), stopped, asking)).toMatchObject({ outcome, exitCode });
  },
);

const overBudget = "this run's budget: $1.00 of $1.00 is spent";
const refused = { ...work, overBudget };

test.each([
  ["over_budget", { exitCode: 1, error: "403" }, null],
  ["over_budget", term, "interrupted"],
  ["out_of_memory", memory, null],
  ["rejected", sudo, null],
] as const)(
  "a run whose last model call was rejected for its budget ends as %s with the exit %j",
  (outcome, exit, stop) => {
    const byBudget = outcome === "over_budget" ? { exitCode: 125, reason: overBudget } : {};
    expect(runEnd(exitOf(exit), stop, refused)).toMatchObject({ outcome, ...byBudget });
  },
);

test("a run that returned a value or asked for a rerun keeps both, however it ended", () => {
  for (const stopped of [null, "killed"] as const) {
    const end = runEnd(exitOf({ value: { found: 2 }, rerun: true }), stopped, work);
    expect(end).toMatchObject({ value: { found: 2 }, rerun: true });
  }
  expect(runEnd(exitOf({ value: null }), null, work)).toHaveProperty("value", null);
});

test.each([
  ["has no stop reason if it ended before its timeout", { endedAt: 99 }, "timed_out", null],
  ["is timed out if it ended after its timeout", { endedAt: 100 }, null, "timed_out"],
  [
    "keeps its own end if it ended before newer work of its key came",
    { endedAt: 49 },
    "superseded",
    null,
  ],
  [
    "is superseded if it ended after newer work of its key came",
    { endedAt: 51 },
    "superseded",
    "superseded",
  ],
  ["stays timed out if its end time is unknown", {}, "timed_out", "timed_out"],
] as const)("a run that ended while no scheduler ran %s", (_what, exit, stopped, expected) =>
  expect(reasonInTime(exitOf(exit), stopped, { deadline: 100, supersededAt: 50 })).toBe(expected),
);
