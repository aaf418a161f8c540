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
const notAsked = "; not checked, because the config is invalid: agent";

function explained(events: readonly RunEvent[], result: MatchResult): MatchResult {
  const agents = createBrokenAgents();
  for (const event of events) agents.onEvent(event);
  return agents.explain("gh", result);
}

test.each<[string, readonly RunEvent[], string]>([
  ["is invalid from the start", [broken("dev", "gh")], `${notAsked} dev`],
  [
    "was valid before, and says that the valid one was used",
    [valid("gh"), broken("dev")],
    "; checked with the last valid config: agent dev",
  ],
  ["listens to the source for the first time", [valid(), broken("dev", "gh")], `${notAsked} dev`],
  [
    "is one of five, and counts the others",
    ["e", "d", "c", "b", "a"].map((name) => broken(name, "gh")),
    `${notAsked} a, b, c and 2 more`,
  ],
])(
  "the reason of an unmatched webhook delivery names an agent whose broken config %s",
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
])(
  "the reason of an unmatched webhook delivery does not name an agent with a broken config that %s",
  (_, events) => expect(explained(events, unmatched)).toEqual(unmatched),
);

test("the result of a webhook delivery that started an agent does not mention agents with a broken config", () => {
  const taken = { ...unmatched, matched: ["ops"], reason: null };
  expect(explained([broken("dev", "gh")], taken)).toEqual(taken);
});
