import { createStatusStore, seedFrom } from "../../../src/foundation/scheduler/status-store.ts";
import type { EarlierRun } from "../../../streams/status/agent-record.ts";
import { eventsOf } from "../../streams/status/events.ts";
import { schedulerStatus } from "../../streams/status/board.ts";

test("the status of an agent that is added again shows the run that ended while the agent was removed", () => {
  let lastRun: EarlierRun | null = null;
  const board = createStatusStore(
    schedulerStatus,
    seedFrom(
      () => lastRun,
      () => true,
      () => ({ usd: 0.25, endsAt: 9 }),
    ),
  );
  const { set, removed } = eventsOf("dev");
  board.apply(set());
  lastRun = { startedAt: 5, endedAt: 9, outcome: "succeeded", reason: null };
  board.apply(removed());
  expect(board.agent("dev")).toBeUndefined();
  board.apply(set());
  expect(board.agent("dev")).toMatchObject({ lastRunAt: 5, lastDurationMs: 4 });
  expect(board.agent("dev")?.today).toEqual({ usd: 0.25, endsAt: 9 });
});
