import { createFirstEvents } from "../../../src/runtime/runs/first-events.ts";
import { anItem } from "../../helpers/agents.ts";
import { eventsOf } from "../../streams/status/events.ts";

const dev = eventsOf("dev");

test("the first event of a work item is returned", async () => {
  const firstEvents = createFirstEvents(() => false);
  const first = firstEvents.of("1");
  const started = dev.started();
  for (const event of [dev.depth(1), dev.started("dev-2", anItem("2")), started]) {
    firstEvents.see(event);
  }
  await expect(first).resolves.toBe(started);
});

test("waiting for an item is rejected after the scheduler began to stop", async () => {
  const firstEvents = createFirstEvents(() => true);
  await expect(firstEvents.of("1")).rejects.toMatchObject({ code: "draining" });
});

test("waiting for an item ends with the scheduler", async () => {
  const firstEvents = createFirstEvents(() => false);
  const first = firstEvents.of("1");
  firstEvents.end();
  await expect(first).rejects.toMatchObject({ code: "draining" });
});
