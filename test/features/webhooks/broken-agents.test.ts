import {
  createBrokenAgents,
  type MatchResult,
} from "../../../src/features/webhooks/match-index.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import { aProblem, eventsOf } from "../../streams/status/events.ts";

const dev = eventsOf("dev");
const broken = (agent: string, ...sources: readonly string[]): RunEvent => ({
  type: "agent-invalid",
  agent,
  at: 0,
  problems: [aProblem()],
  sources,
});
const valid = (...sources: readonly string[]): RunEvent =>
  dev.set({ webhooks: sources.map((source) => ({ source, type: "github", filters: {} })) });

const unmatched = {
  matched: [],
  disabled: [],
  reason: "no agent listens to source gh",
  examined: 0,
};
const notAsked = "; with an invalid config, so not asked: agent";

function explained(events: readonly RunEvent[], result: MatchResult): MatchResult {
  const agents = createBrokenAgents();
  for (const event of events) agents.onEvent(event);
  return agents.explain("gh", result);
}

test.each<[string, readonly RunEvent[], string]>([
  ["is invalid from the start", [broken("dev", "gh")], `${notAsked} dev`],
  [
    "broke later, with the answer of its last valid config",
    [valid("gh"), broken("dev")],
    "; asked with the last valid config: agent dev",
  ],
  ["listens only by its invalid config", [valid(), broken("dev", "gh")], `${notAsked} dev`],
  [
    "is one of many",
    ["e", "d", "c", "b", "a"].map((name) => broken(name, "gh")),
    `${notAsked} a, b, c and 2 more`,
  ],
])(
  "an unmatched delivery names an agent whose config is broken: one that %s",
  (_, events, more) => {
    expect(explained(events, unmatched)).toEqual({
      ...unmatched,
      reason: `${unmatched.reason}${more}`,
    });
  },
);

test.each<[string, readonly RunEvent[]]>([
  ["never listened to the source", [broken("dev", "other")]],
  ["has no webhooks", [valid(), broken("dev")]],
  ["was repaired", [broken("dev", "gh"), valid("gh")]],
  ["was removed", [broken("dev", "gh"), dev.removed()]],
])("an unmatched delivery does not name an agent with a broken config that %s", (_, events) =>
  expect(explained(events, unmatched)).toEqual(unmatched),
);

test("a delivery that an agent accepted gets no reason about a broken config", () => {
  const taken = { ...unmatched, matched: ["ops"], reason: null };
  expect(explained([broken("dev", "gh")], taken)).toEqual(taken);
});
