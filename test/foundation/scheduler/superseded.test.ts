import { commitEvents } from "../../../src/foundation/scheduler/commit-events.ts";
import { createStoredWork } from "../../../src/foundation/scheduler/stored-work.ts";
import type { RefusedOutcome } from "../../../streams/outcomes.ts";
import type { RunEnd, RunEvent, WorkItem } from "../../../streams/vocabulary.ts";
import { anItem } from "../../helpers/agents.ts";
import { schedulerContext } from "../../helpers/scheduler-context.ts";
import { requestFor, wholeHistory } from "../store/support.ts";

const itemOf = (id: string): WorkItem => ({ ...anItem(id), key: "k" });

/** Commits events about items of one key; each is a line of its history entry, and those that can be replayed have a star. */
async function history(
  act: (events: {
    start: (id: string) => Promise<void>;
    end: (id: string, end: Partial<RunEnd>) => void;
    refuse: (id: string, outcome: RefusedOutcome, by?: string) => void;
    commit: (event: RunEvent) => void;
  }) => Promise<void> | void,
) {
  const context = schedulerContext();
  const { store } = context;
  const commit = commitEvents(context, []);
  await store.work.enqueue(["a", "b", "c"].map(itemOf));
  const at = { agent: "dev", at: 5 };
  await act({
    commit,
    start: (id) => store.work.claim(requestFor(itemOf(id), `dev-${id}`)),
    end: (id, given) => {
      const end = {
        outcome: "succeeded",
        exitCode: 0,
        reason: null,
        usage: null,
        ...given,
      } as const;
      const run = { item: itemOf(id), instanceId: `dev-${id}`, startedAt: 1 };
      commit({ ...at, type: "finished", ...run, end });
    },
    refuse: (id, outcome, by) => {
      const superseded = by === undefined ? {} : { supersededBy: by };
      const reason = by === undefined ? "queue_full" : `superseded by ${by}`;
      commit({ ...at, type: "refused", item: itemOf(id), outcome, reason, ...superseded });
    },
  });
  await store.waitingWork.committed();
  expect(context.lines).toEqual([]);
  return store.history
    .query(wholeHistory)
    .triggers.toSorted((a, b) => a.id.localeCompare(b.id))
    .map(
      ({ id, outcome, reason, deadLetter }) =>
        `${deadLetter ? "*" : ""}${id} ${outcome}: ${reason}`,
    );
}

const ended = { outcome: "superseded", reason: "superseded by b", supersededBy: "b" } as const;
const never = "; c never started: queue_full";
const too = "; work that it superseded can be replayed, too";

describe("work that newer work of its key superseded", () => {
  test("can't be replayed as a dead letter while the newer work waits, runs or has run", async () => {
    const lines = await history(async ({ start, end, refuse }) => {
      refuse("a", "superseded", "b");
      await start("b");
      end("b", {});
    });
    expect(lines).toEqual(["a superseded: superseded by b", "b succeeded: null", "c null: null"]);
  });

  test("can be replayed, like the newer work, once that ends without a start", async () => {
    const lines = await history(async ({ start, end, refuse }) => {
      await start("a");
      end("a", ended);
      refuse("b", "superseded", "c");
      refuse("c", "dropped");
    });
    expect(lines).toEqual([
      `*a superseded: superseded by b${never}`,
      `*b superseded: superseded by c${never}`,
      `*c dropped: queue_full${too}`,
    ]);
  });

  test("can be replayed if its run ends after the newer work ended without a start", async () => {
    const lines = await history(async ({ start, end, refuse }) => {
      await start("a");
      refuse("b", "superseded", "c");
      refuse("c", "skipped");
      end("a", ended);
    });
    expect(lines).toEqual([
      `*a superseded: superseded by b${never}`,
      `*b superseded: superseded by c${never}`,
      `*c skipped: queue_full${too}`,
    ]);
  });

  test("can't be replayed as a dead letter if the newer work ran and only work after that never started", async () => {
    const lines = await history(async ({ start, end, refuse }) => {
      refuse("a", "superseded", "b");
      await start("b");
      end("b", { ...ended, reason: "superseded by c", supersededBy: "c" });
      refuse("c", "dropped");
    });
    expect(lines).toEqual([
      "a superseded: superseded by b",
      `*b superseded: superseded by c${never}`,
      `*c dropped: queue_full${too}`,
    ]);
  });
});

test("the next scheduler knows the keys of work, which runs end for newer work, and which work is a retry", async () => {
  const context = schedulerContext();
  const { store } = context;
  const dispatched: WorkItem[] = [];
  const commit = commitEvents(
    { ...context, dispatch: (items) => void dispatched.push(...items) },
    [],
  );
  await store.work.enqueue(["a", "b"].map(itemOf));
  await store.work.claim(requestFor(itemOf("a"), "dev-a"));
  commit({ type: "ending", agent: "dev", at: 1, itemId: "a", by: "b" });
  await store.waitingWork.committed();
  expect(store.openRuns()).toMatchObject([{ item: { id: "a", key: "k" }, supersededBy: "b" }]);

  const end = {
    outcome: "interrupted",
    exitCode: null,
    reason: null,
    usage: null,
    neverBegan: true,
  } as const;
  commit({
    type: "finished",
    agent: "dev",
    at: 1,
    item: itemOf("a"),
    instanceId: "dev-a",
    startedAt: 0,
    end,
  });
  await expect.poll(() => dispatched).toMatchObject([{ key: "k", isRetry: true }]);
  const stored = await new Promise((resolve) =>
    createStoredWork(context).after(0).subscribe(resolve),
  );
  expect(stored).toMatchObject({ items: [itemOf("b"), { key: "k", isRetry: true }] });
});
