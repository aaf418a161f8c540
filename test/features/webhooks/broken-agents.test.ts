import { createBrokenAgents } from "../../../src/features/webhooks/match-index.ts";
import type { MatchResult } from "../../../src/features/webhooks/match-index.ts";
import { anAgent } from "../../helpers/agents.ts";

const nothing: MatchResult = {
  matched: [],
  disabled: [],
  reason: "no agent listens to source gh",
  examined: 0,
};
const at = 0;
const broken = (agent: string, ...sources: readonly string[]) =>
  ({ type: "agent-invalid", agent, at, problems: [], sources }) as const;
const valid = (agent: string, ...sources: readonly string[]) => {
  const webhooks = sources.map((source) => ({ source, type: "github", filters: {} }));
  const config = anAgent(agent, { webhooks });
  return { type: "agent-set", agent, at, config, warnings: [], summary: "" } as const;
};

function reasonAfter(...events: Parameters<ReturnType<typeof createBrokenAgents>["onEvent"]>[0][]) {
  const agents = createBrokenAgents();
  for (const event of events) agents.onEvent(event);
  return agents.explain("gh", nothing).reason;
}

test("an agent with an invalid config from the start is reported as not asked", () =>
  expect(reasonAfter(broken("dev", "gh"))).toBe(
    "no agent listens to source gh; with an invalid config, so not asked: agent dev",
  ));

test("an agent whose config broke later is asked with its last valid one", () =>
  expect(reasonAfter(valid("dev", "gh"), broken("dev"))).toBe(
    "no agent listens to source gh; asked with the last valid config: agent dev",
  ));

test.each([
  ["never listened to its source", [broken("dev", "other")]],
  ["has no webhooks", [valid("dev"), broken("dev")]],
])("a delivery does not name a broken agent that %s", (_, events) => {
  expect(reasonAfter(...events)).toBe(nothing.reason);
});

test("an agent that listens only by its invalid config is reported as not asked", () =>
  expect(reasonAfter(valid("dev"), broken("dev", "gh"))).toContain("so not asked: agent dev"));

test("an unmatched delivery does not name an agent whose config was repaired or removed", () => {
  expect(reasonAfter(broken("dev", "gh"), valid("dev"))).toBe(nothing.reason);
  expect(reasonAfter(broken("dev", "gh"), { type: "agent-removed", agent: "dev", at })).toBe(
    nothing.reason,
  );
});

test("only the first of many broken agents are named", () =>
  expect(reasonAfter(...["e", "d", "c", "b", "a"].map((name) => broken(name, "gh")))).toContain(
    "agent a, b, c and 2 more",
  ));

test("a delivery that an agent accepted needs no reason", () => {
  const agents = createBrokenAgents();
  agents.onEvent(broken("dev", "gh"));
  const taken = { ...nothing, matched: ["ops"], reason: null };
  expect(agents.explain("gh", taken)).toEqual(taken);
});
