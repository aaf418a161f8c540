import { createFirstEvents } from "../../../src/runtime/runs/first-events.ts";
import { anItem } from "../../helpers/agents.ts";
import { eventsOf } from "../../streams/status/events.ts";

const dev = eventsOf("dev");

test("waiting for the first event of a work item resolves with that, not with another item's", async () => {
  const firstEvents = createFirstEvents(() => false);
  const first = firstEvents.of("1");
  const started = dev.started();
  for (const event of [dev.depth(1), dev.started("dev-2", anItem("2")), started]) {
    firstEvents.see(event);
  }
  await expect(first).resolves.toBe(started);
});

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
