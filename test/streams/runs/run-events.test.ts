import type { QueueEvent } from "../../../streams/runs/queue-latest.ts";
import { noSuchAgent, queueRunEvent } from "../../../streams/runs/run-events.ts";
import type { WorkItem } from "../../../streams/vocabulary.ts";
import { anItem } from "../../helpers/agents.ts";

const item = anItem("1");
const at = { agent: "dev", at: 5 };

test.each<[QueueEvent<WorkItem>, object, usable?: boolean]>([
  [
    { type: "queued", item },
    { type: "queued", item },
  ],
  [
    { type: "depth", depth: 3 },
    { type: "queue-depth", depth: 3 },
  ],
  [{ type: "dropped", why: "full", item }, { reason: "queue_full" }],
  [{ type: "dropped", why: "closed", item }, { reason: "the agent was removed" }],
  [{ type: "skipped", why: "busy", item }, { reason: "all runners are busy" }],
  [{ type: "skipped", why: "held", item }, { reason: "the agent is held" }],
  [
    { type: "skipped", why: "replaced", item },
    { reason: "a newer tick replaced it while it waited for a slot of the project" },
  ],
  [{ type: "skipped", why: "held", item }, { reason: "its image is not ready" }, false],
])("the queue event %j is emitted as %j", (event, expected, usable = true) => {
  const refused =
    "reason" in expected ? { type: "refused", item, outcome: event.type, ...expected } : expected;
  expect(queueRunEvent({ ...at, usable }, event)).toEqual({ ...at, ...refused });
});

test("work for an agent that does not exist is rejected", () => {
  const reason = 'there is no agent "dev"';
  const refused = { type: "refused", item, outcome: "rejected", reason };
  expect(noSuchAgent(item, 5)).toEqual({ ...at, ...refused });
});
