import { backfill } from "../../../src/runtime/runs/backfill.ts";
import { createBackfills } from "../../../src/runtime/runs/backfills.ts";
import { inProcess } from "../../../src/foundation/perform.ts";
import type { RunContext } from "../../../src/runtime/runs/run-context.ts";
import type { RunEvent, WorkItem } from "../../../streams/vocabulary.ts";
import { anAgent } from "../../helpers/agents.ts";
import { schedulerContext } from "../../helpers/scheduler-context.ts";
import { requestFor, succeeded, wholeHistory } from "../../foundation/store/support.ts";

const hourMs = 3_600_000;

/** A scheduler with an agent that is due each hour, and the work that its backfills dispatched. */
function backfilling() {
  const dispatched: WorkItem[] = [];
  const context = schedulerContext({ dispatch: (items) => dispatched.push(...items) });
  const config = anAgent("dev", { schedule: "0 * * * *" });
  const set = { agent: "dev", at: 1, config, warnings: [], summary: "" };
  context.status.apply({ type: "agent-set", ...set });
  const backfills = createBackfills(context);
  const perform = async (given: object) =>
    backfill.perform(
      { name: "dev", since: ago(3), ...given },
      { ...context, backfills, planned: () => ({ calendars: {} }) } as unknown as RunContext,
      inProcess,
    );
  return { ...context, dispatched, backfills, perform };
}

type Backfilling = ReturnType<typeof backfilling>;

type End = "succeeded" | "killed" | "rejected" | "dropped";

/** Commits the end of the work that was dispatched last; only `dropped` work has no run. */
async function end(of: Backfilling, outcome: End): Promise<void> {
  const item = of.dispatched.at(-1);
  if (item === undefined) throw new Error("nothing was dispatched");
  const instanceId = `dev-${of.dispatched.length}`;
  const at = { agent: "dev", at: 1, item };
  if (outcome === "dropped") {
    await of.store.work.refuse(item, outcome, "queue_full", false);
    return of.backfills.onEvent({ ...at, type: "refused", outcome, reason: "queue_full" });
  }
  await of.store.work.claim(requestFor(item, instanceId));
  const run = { instanceId, startedAt: 1, end: { ...succeeded, outcome } };
  await of.store.work.end(item, run);
  of.backfills.onEvent({ ...at, type: "finished", ...run } satisfies RunEvent);
}

const ago = (hours: number) => new Date(Date.now() - hours * hourMs).toISOString();

test("a backfill dispatches one run at a time, the oldest first", async () => {
  const all = backfilling();
  const { slots } = await all.perform({});
  expect(slots).toHaveLength(3);
  for (const count of [1, 2, 3]) {
    await expect.poll(() => all.dispatched).toHaveLength(count);
    await end(all, "succeeded");
  }
  const due = all.dispatched.map(({ trigger }) => trigger);
  expect(due).toEqual(
    slots.map(({ at }) => ({ kind: "cron", scheduledFor: Date.parse(at), late: "backfill" })),
  );
});

test.each(["killed", "rejected", "dropped"] as const)(
  "the rest of a backfill does not start after a run of it was %s",
  async (outcome) => {
    const all = backfilling();
    await all.perform({});
    await end(all, outcome);
    await expect.poll(() => all.store.slots.planned("dev")).toBe(0);
    const { triggers } = all.store.history.query({ ...wholeHistory, outcome: "missed" });
    expect(triggers).toHaveLength(2);
    expect(all.dispatched).toHaveLength(1);
    await expect.poll(() => all.lines.join()).toContain("dev: 2 missed runs will not start");
  },
);

test("missed runs of catchUp wait while schedules are paused, and a backfill by a person does not", async () => {
  const all = backfilling();
  const resumed = all.backfills.resumed$.subscribe();
  await all.store.slots.catchUp("dev", [{ schedule: "", at: 1_000 }]);
  all.inputs.paused$.next(true);
  await all.backfills.advance("dev");
  expect(all.dispatched).toEqual([]);
  all.inputs.paused$.next(false);
  await expect.poll(() => all.dispatched).toHaveLength(1);
  resumed.unsubscribe();
  all.inputs.paused$.next(true);
  await end(all, "succeeded");
  await all.perform({});
  expect(all.dispatched).toHaveLength(2);
});

test("a dry run of a backfill plans nothing", async () => {
  const all = backfilling();
  expect((await all.perform({ dryRun: true })).slots).toHaveLength(3);
  expect(all.store.slots.planned("dev")).toBe(0);
  expect(all.dispatched).toEqual([]);
});
