import type { QueueEvent } from "../../../streams/runs/waiting-items.ts";
import { noSuchAgent, queueRunEvent } from "../../../streams/runs/run-events.ts";
import type { WorkItem } from "../../../streams/vocabulary.ts";
import { anItem } from "../../helpers/agents.ts";

const item = anItem("1");
const at = { agent: "dev", at: 5 };

test.each<[what: string, QueueEvent<WorkItem>, object, usable?: boolean]>([
  ["a queued item", { type: "queued", item }, { type: "queued", item }],
  ["a changed depth", { type: "depth", depth: 3 }, { type: "queue-depth", depth: 3 }],
  [
    "an item dropped by a closed queue",
    { type: "dropped", why: "closed", item },
    { reason: "the agent was removed" },
  ],
  [
    "a tick skipped because all runners are busy",
    { type: "skipped", why: "busy", item },
    { reason: "all runners are busy" },
  ],
  [
    "a tick skipped because its key is busy",
    { type: "skipped", why: "key", item },
    { reason: "a run of its key is live" },
  ],
  [
    "an item that newer work superseded",
    { type: "superseded", item: { ...item, key: "k" }, by: "2" },
    {
      item: { ...item, key: "k" },
      supersededBy: "2",
      reason: 'newer work with its key "k" took its place: 2',
    },
  ],
  [
    "a tick skipped without an image",
    { type: "skipped", why: "held", item },
    { reason: "its image is not ready" },
    false,
  ],
])("queueRunEvent returns the event of %s", (_what, event, expected, usable = true) => {
  const refused =
    "reason" in expected ? { type: "refused", item, outcome: event.type, ...expected } : expected;
  expect(queueRunEvent({ ...at, usable }, event)).toEqual({ ...at, ...refused });
});

test("work for a missing agent is rejected", () => {
  const reason = 'there is no agent "dev"';
  const refused = { type: "refused", item, outcome: "rejected", reason };
  expect(noSuchAgent(item, 5)).toEqual({ ...at, ...refused });
});
