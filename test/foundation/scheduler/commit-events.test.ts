import { commitEvents } from "../../../src/foundation/scheduler/commit-events.ts";
import { lastCheckedIn } from "../../../src/start/build-graph.ts";
import type { RunEvent, WorkItem } from "../../../streams/vocabulary.ts";
import { anItem } from "../../helpers/agents.ts";
import { schedulerContext } from "../../helpers/scheduler-context.ts";
import { cronItem, requestFor } from "../store/support.ts";

type Outcome = "lost" | "interrupted" | "failed";

/** The work that is dispatched, and stored by then, when the run of an item ends. */
async function retried(outcome: Outcome, attempt: number): Promise<readonly WorkItem[]> {
  const dispatched: WorkItem[] = [];
  const context = schedulerContext({ dispatch: (items) => dispatched.push(...items) });
  const item = { ...anItem("1"), attempt };
  await context.store.work.enqueue([item]);
  await context.store.work.claim(requestFor(item, "dev-1"));
  const end = { outcome, exitCode: null, reason: null, usage: null } as const;
  const run = { agent: "dev", at: 1, item, instanceId: "dev-1", startedAt: 0 };
  const event: RunEvent = { type: "finished", ...run, end };
  commitEvents(context, [])(event);
  await expect.poll(() => context.store.openRuns()).toEqual([]);
  expect(context.lines).toEqual([]);
  return dispatched;
}

test.each(["lost", "interrupted"] as const)(
  "a run that was %s is retried once",
  async (outcome) => {
    expect(await retried(outcome, 1)).toMatchObject([{ agent: "dev", attempt: 2 }]);
    expect(await retried(outcome, 2)).toEqual([]);
  },
);

test("a failed run is not retried", async () => expect(await retried("failed", 1)).toEqual([]));

test("missed ticks are rows of the history, and those that run late are planned", async () => {
  const context = schedulerContext();
  const commit = commitEvents(context, []);
  const at = { agent: "dev", at: 5 };
  const items = [1_000, 2_000].map((due) => ({
    item: cronItem(`${due}`, "dev", due),
    reason: "no",
  }));
  commit({ ...at, type: "missed", items, reason: "no scheduler" });
  commit({ ...at, type: "late", slots: [3_000, 4_000] });
  await expect.poll(() => context.store.slots.planned("dev")).toBe(2);
  expect(context.store.slots.refused("dev", 0).map((slot) => slot.at)).toEqual([1_000, 2_000]);
});

test("a tick of paused schedules writes nothing", async () => {
  const context = schedulerContext();
  const commit = commitEvents(context, []);
  const plan = { schedule: "", checked: { expression: "0 9 * * *", timezone: "UTC" } };
  const next = (at: number) =>
    commit({ type: "next-run", agent: "dev", at, nextRunAt: at + 1, ...plan });
  const recordedAt = () => context.store.settings.lastTicks().get("dev")?.at;
  next(1);
  next(2);
  await expect.poll(recordedAt).toBe(2);
  await context.switches.setPaused(true);
  next(3);
  await context.store.waitingWork.committed();
  expect(recordedAt()).toBe(2);
});

test("a scheduled run that still waits is stored for the next scheduler, and started as a run there", async () => {
  const context = schedulerContext();
  const { store } = context;
  const commit = commitEvents(context, []);
  const item = cronItem("tick");
  for (const at of [1, 2]) commit({ type: "queued", agent: "dev", at, item });
  await expect.poll(() => store.recover()).toMatchObject({ requeue: [{ ...item, waits: true }] });
  await store.work.claim(requestFor(item, "dev-1"));
  expect(store.openRuns()).toMatchObject([{ item, instanceId: "dev-1" }]);
  expect(context.lines).toEqual([]);
});

test("the last check of each schedule is stored by its own name", async () => {
  const context = schedulerContext();
  const commit = commitEvents(context, []);
  const checked = { expression: "0 9 * * *", timezone: "UTC" };
  const next = { type: "next-run", agent: "dev", nextRunAt: 9 } as const;
  commit({ ...next, at: 1, schedule: "", checked });
  commit({ ...next, at: 2, schedule: "nightly", checked });
  commit({ ...next, at: 3, schedule: "gone", checked: null });
  const { settings } = context.store;
  await expect.poll(() => settings.lastTicks().size).toBe(3);
  const before = lastCheckedIn(settings);
  expect(before("dev", "")).toEqual({ at: 1, schedule: checked });
  expect(before("dev", "nightly")).toEqual({ at: 2, schedule: checked });
  expect(before("dev", "gone")).toBeUndefined();
  expect(context.lines).toEqual([]);
});
