import { createFirstEvents } from "../../../src/runtime/runs/first-events.ts";

test.each([
  ["before", false],
  ["after", true],
])(
  "waiting for the first event of a work item, begun %s the scheduler's stop, is rejected",
  async (_when, isLate) => {
    const firstEvents = createFirstEvents(() => isLate);
    const first = firstEvents.of("1");
    if (!isLate) firstEvents.end();
    await expect(first).rejects.toMatchObject({ code: "draining" });
  },
);
