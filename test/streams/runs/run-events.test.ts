import { describe, expect, it } from "vitest";
import type { QueueEvent } from "../../../streams/runs/queue-latest.ts";
import { noSuchAgent, queueRunEvent } from "../../../streams/runs/run-events.ts";
import type { WorkItem } from "../../../streams/vocabulary.ts";
import { anItem } from "../../helpers/agents.ts";

const item = anItem("1");
const at = { agent: "dev", at: 5 };

describe("what a queue reports, as events", () => {
  it("says what waits and how many", () => {
    expect(queueRunEvent({ ...at, usable: true }, { type: "queued", item })).toEqual({
      ...at,
      type: "queued",
      item,
    });
    expect(queueRunEvent({ ...at, usable: true }, { type: "depth", depth: 3 })).toEqual({
      ...at,
      type: "queue-depth",
      depth: 3,
    });
  });

  it.each<[QueueEvent<WorkItem>, string]>([
    [{ type: "dropped", why: "full", item }, "queue_full"],
    [{ type: "dropped", why: "closed", item }, "the agent was removed"],
    [{ type: "skipped", why: "busy", item }, "all runners are busy"],
    [{ type: "skipped", why: "held", item }, "the agent is held"],
  ])("says why work never ran: $type, $why", (event, reason) => {
    const refused = { ...at, type: "refused", item, outcome: event.type, reason };
    expect(queueRunEvent({ ...at, usable: true }, event)).toEqual(refused);
  });

  it("says that an image is missing", () => {
    const event = { type: "skipped", why: "held", item } as const;
    expect(queueRunEvent({ ...at, usable: false }, event)).toMatchObject({
      reason: "its image is not ready",
    });
  });

  it("refuses work for an agent that does not exist", () => {
    expect(noSuchAgent(item, 5)).toEqual({
      ...at,
      type: "refused",
      item,
      outcome: "rejected",
      reason: 'there is no agent "dev"',
    });
  });
});
