import { createLease } from "../../../streams/runs/lease.ts";
import type {
  EngineReport,
  LeaseCommand,
  LeaseEvent,
  LeaseOptions,
} from "../../../streams/runs/lease-events.ts";
import { marbles, seconds } from "../../helpers/marbles.ts";
import { driven } from "../../runtime/runs/rules/driven.ts";

const report = (state: EngineReport["state"], more: Partial<EngineReport> = {}): LeaseCommand => ({
  type: "reported",
  report: { state, node: null, problem: null, endings: 0, ...more },
});

const commands: Record<string, LeaseCommand> = {
  b: { type: "begin" },
  c: { type: "claimed", node: "n1" },
  h: { type: "heard" },
  s: { type: "stop", graceMs: 2_000 },
  x: { type: "end" },
  w: report("waiting", { problem: "no suitable node" }),
  i: report("waiting", { problem: "no such image", isHopeless: true }),
  n: report("running", { node: "n1" }),
  e: report("ended", { problem: "exit 3", endings: 1 }),
  E: report("ended", { problem: "exit 3", endings: 3 }),
  k: report("ended", { problem: "killed", endings: 1, exitCode: 137, outOfMemory: true }),
  u: report("ended", { problem: "exit 3", endings: 3, exitCode: 3 }),
  d: report("ended", { problem: "node down", endings: 3, exitCode: 137 }),
  v: report("ended", { problem: "node down", endings: 1, isHopeless: true, isEvicted: true }),
  g: report("gone"),
  p: report("ended"),
};

const events: Record<string, LeaseEvent> = {
  L: {
    type: "lost",
    reason: `the run on "n1" has not responded for 20 s: the machine may be down or cut off`,
  },
  W: { type: "waits", text: "waits for a machine: no suitable node" },
  N: { type: "waits", text: "waits for a machine: it starts on n1" },
  T: { type: "rejected", reason: "no machine started it within 30 s" },
  U: { type: "rejected", reason: "no machine started it within 30 s: no suitable node" },
  I: { type: "rejected", reason: "no such image" },
  R: { type: "rejected", reason: "exit 3" },
  S: { type: "stopped" },
  O: { type: "overdue" },
  D: { type: "lost", reason: `the run on "n1" ended without a report: exit 3` },
  K: { type: "out-of-memory", exitCode: 137 },
  X: {
    type: "rejected",
    reason: `its machine can't reach the scheduler (exit 3): check "address" and "listen" of [cluster], and firewalls between the machines`,
  },
  B: { type: "lost", reason: "it was stopped before it began: node down" },
  V: { type: "lost", reason: "it began while no scheduler was running" },
  G: { type: "lost", reason: "the run is no longer on the cluster" },
  P: { type: "lost", reason: "the scheduler ended before it had started the run" },
};

const defaults: LeaseOptions = { leaseMs: 20_000, startMs: 30_000, node: null, isAdopted: false };

/** Commands in seconds; events as well, or one at a time. */
type Row = [name: string, commands: string, events: string, options?: Partial<LeaseOptions>];

test.each<Row>([
  ["is lost after a lease without a request", "b-c--h------h", "32s L"],
  ["of an earlier scheduler begins its lease anew after a restart", "b", "20s L", { node: "n1" }],
  ["is rejected when no machine started it in time", "b", "30s T"],
  [
    "is rejected with the engine's reason if it does not start in time",
    "b-w-w",
    "--W---------------------------U",
  ],
  ["emits why it waits, each reason once", "b-w-w-n-n-c-x", "--W---N"],
  ["is rejected at once if its image is missing", "b-wi", "--WI"],
  ["is rejected when its process ended and is not started again", "b-e-e-e-e-e-e-e-e", "12s R"],
  ["continues when its process is started again", "b-e-e-n-e-e-c-x", "------N"],
  ["is lost when it ended while no scheduler ran", "b-u", "--V", { isAdopted: true }],
  ["is rejected with a hint when its machine can't reach the scheduler", "b-u", "--X"],
  ["is lost when its machine went down before claiming it", "b-d", "--B"],
  ["is lost when its machine was drained before claiming it", "b-v", "--B"],
  ["is out of memory when it was killed for memory before it began", "b-k", "12s K"],
  ["ends at once when it is stopped before a machine claims it", "b-w-s-c", "--W-S"],
  ["is lost when the engine no longer knows it", "b-g", "12s G"],
  ["is lost when its start was aborted", "b-p", "12s P"],
  ["is lost when its process ended without a message", "b-c-e-e", "14s D"],
  ["is out of memory when the engine reports that", "b-c-k", "14s K"],
  ["is overdue when it does not end after a stop", "b-c-s-h-h-h-h-h-h-h", "16s O"],
  ["is overdue when its process is gone after a stop, without its end", "b-c-sg", "15s O"],
])("a run on another machine %s", (_name, given, expected, options) =>
  // A column is a second.
  marbles(({ hot, scheduler, expectObservable }) => {
    const lease = () => createLease({ ...defaults, ...options });
    const event$ = driven(hot(seconds(given), commands), lease, scheduler);
    const drawn = expected.includes(" ") ? expected : seconds(expected);
    expectObservable(event$, "120s !").toBe(drawn, events);
  }),
);

test("a run on another machine is asked about at its engine while it is unclaimed or silent", () => {
  const lease = createLease(defaults);
  lease.apply({ type: "begin" }, 1000);
  expect(lease.wantsReport(1000)).toBe(true);
  lease.apply({ type: "claimed", node: "" }, 2000);
  expect(lease.wantsReport(2000)).toBe(false);
  expect(lease.wantsReport(12_001)).toBe(true);
  lease.apply({ type: "heard" }, 13_000);
  expect(lease.wantsReport(13_001)).toBe(false);
  lease.apply({ type: "end" }, 13_002);
  expect(lease.wantsReport(99_000)).toBe(false);
});
