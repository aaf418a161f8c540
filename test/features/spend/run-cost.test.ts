import { withCost } from "../../../src/features/spend/used-budget-events.ts";
import type { Usage } from "../../../streams/vocabulary.ts";
import { eventsOf } from "../../streams/status/events.ts";

/** Counted 0.25 USD and 3 turns of the run. */
const counted = {
  instanceId: "dev-1",
  agent: "dev",
  usd: 0.25,
  reservedUsd: 0,
  turns: 3,
  tokens: 40,
};

/** The end of a run with its usage, by what it reported and what the scheduler counted. */
function costed(usage: Usage | null, more: Partial<typeof counted> = {}) {
  const event = eventsOf("dev").finished("killed");
  if (event.type !== "finished") throw new Error("no end");
  const { end } = event;
  const meter = { run: () => ({ ...counted, ...more }) };
  const given = withCost({ ...event, end: { ...end, usage } }, meter);
  return given.type === "finished" ? given.end.usage : null;
}

const reported: Usage = { model: "claude", tokens: 10, costUsd: 0.2, turns: 2 };

const tokens = 40;
test.each<[string, Usage | null, Partial<typeof counted>, Partial<Usage>]>([
  [
    "reported nothing is the amount that the scheduler counted",
    null,
    {},
    { model: null, tokens, costUsd: 0.25, turns: 3 },
  ],
  [
    "reported another cost is the amount that the scheduler counted",
    reported,
    {},
    { ...reported, tokens, costUsd: 0.25 },
  ],
  [
    "has an open model call includes the reserved amount",
    null,
    { reservedUsd: 0.5 },
    { costUsd: 0.75 },
  ],
  ["charged no budget is the cost that it reported", reported, { usd: 0 }, { ...reported, tokens }],
  ["made no model calls is the cost that it reported", reported, { usd: 0, tokens: 0 }, reported],
])("the cost of a run that %s", (_, usage, more, expected) =>
  expect(costed(usage, more)).toMatchObject(expected),
);
