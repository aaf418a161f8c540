import { reasonInTime, runEnd } from "../../../streams/runs/outcome.ts";
import type { RunnerExit, StopReason } from "../../../streams/runs/runner.ts";
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

const interruptedOnce =
  "the scheduler was stopped before the run was done; its work is tried once more at the next start";

const table: Row[] = [
  ["succeeds with code 0", {}, null, "succeeded", 0, null],
  ["fails with the code it gave", { exitCode: 3 }, null, "failed", 3, "exited with code 3"],
  ["fails by its own account", { error: "no key" }, null, "failed", 1, "no key"],
  ["keeps the code beside its account", { exitCode: 2, error: "no" }, null, "failed", 2, "no"],
  ["fails by a signal from elsewhere", term, null, "failed", 1, "ended by SIGTERM"],
  ["fails without any word", { exitCode: null }, null, "failed", 1, "exited with code 1"],
  [
    "times out",
    term,
    "timed_out",
    "timed_out",
    124,
    "ran longer than its timeout of 9 s (timeout of the agent, or of [local])",
  ],
  [
    "times out even when it exits 0 on TERM",
    {},
    "timed_out",
    "timed_out",
    124,
    "ran longer than its timeout of 9 s (timeout of the agent, or of [local])",
  ],
  ["is killed", term, "killed", "killed", 137, null],
  ["is killed even when it exits 0 on TERM", {}, "killed", "killed", 137, null],
  [
    "is killed before it ran out of memory",
    { ...term, outOfMemory: true },
    "killed",
    "killed",
    137,
    null,
  ],
  ["is interrupted", term, "interrupted", "interrupted", 143, interruptedOnce],
  [
    "is interrupted with code 143",
    { exitCode: 143 },
    "interrupted",
    "interrupted",
    143,
    interruptedOnce,
  ],
  ["succeeds when it ends well as it is interrupted", {}, "interrupted", "succeeded", 0, null],
  [
    "runs out of memory",
    { exitCode: 137, outOfMemory: true },
    null,
    "out_of_memory",
    137,
    "ran out of memory (memory of [local] is its limit)",
  ],
  ["succeeds though a child ran out of memory", { outOfMemory: true }, null, "succeeded", 0, null],
  ["is rejected", { exitCode: null, rejected: "no sudo" }, null, "rejected", null, "no sudo"],
  [
    "is rejected, not killed, when it never began",
    { exitCode: null, rejected: "no sudo" },
    "killed",
    "rejected",
    null,
    "no sudo",
  ],
];

test.each(table)("a run: %s", (_what, exit, stopped, outcome, exitCode, reason) => {
  expect(runEnd(exitOf(exit), stopped, work)).toEqual({ outcome, exitCode, reason, usage: null });
});

test("a run keeps its usage, however it ended", () => {
  const usage = { model: "scripted", tokens: 12, costUsd: 0, turns: 1 };
  const exits: [Partial<RunnerExit>, StopReason | null][] = [
    [{}, null],
    [{ exitCode: 1 }, null],
    [term, "killed"],
    [term, "timed_out"],
    [{ exitCode: 137, outOfMemory: true }, null],
  ];
  for (const [exit, stopped] of exits) {
    expect(runEnd(exitOf({ ...exit, usage }), stopped, work).usage).toBe(usage);
  }
});

const overBudget = "this run's budget: $1.00 of $1.00 is spent";
const refused = { ...work, overBudget };

test.each([
  ["fails", { exitCode: 1, error: "403" }, null],
  ["is interrupted", term, "interrupted"],
] as const)(
  "a run whose last call to a model was rejected for its budget ends over_budget, with the budget as its reason, when it %s",
  (_what, exit, stop) =>
    expect(runEnd(exitOf(exit), stop, refused)).toEqual({
      outcome: "over_budget",
      exitCode: 125,
      reason: overBudget,
      usage: null,
    }),
);

test.each([
  ["succeeded", {}, null],
  ["killed", term, "killed"],
  ["timed_out", term, "timed_out"],
  ["out_of_memory", { exitCode: 137, outOfMemory: true }, null],
  ["rejected", { exitCode: null, rejected: "no sudo" }, null],
] as const)(
  "a run whose last call to a model was rejected for its budget keeps another end: %s",
  (outcome, exit, stop) => expect(runEnd(exitOf(exit), stop, refused).outcome).toBe(outcome),
);

test("a run that returned a value keeps it, and its request for a rerun, however it ended", () => {
  for (const stopped of [null, "killed"] as const) {
    const end = runEnd(exitOf({ value: { found: 2 }, rerun: true }), stopped, work);
    expect(end).toMatchObject({ value: { found: 2 }, rerun: true });
  }
  expect(runEnd(exitOf({ value: null }), null, work)).toHaveProperty("value", null);
});

test.each([
  ["ended in time", { endedAt: 99 }, "timed_out", null],
  ["ended after its time", { endedAt: 100 }, null, "timed_out"],
  ["was killed", { endedAt: 99 }, "killed", "killed"],
  ["was interrupted", { endedAt: 99 }, "interrupted", "interrupted"],
  ["says nothing of when", {}, "timed_out", "timed_out"],
] as const)(
  "the stop reason of a run that ended while no scheduler ran that %s",
  (_what, exit, stopped, expected) =>
    expect(reasonInTime(exitOf(exit), stopped, 100)).toBe(expected),
);
