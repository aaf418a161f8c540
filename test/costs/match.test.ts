import { expect, test } from "vitest";
import { createMatchIndex } from "../../src/features/webhooks/match-index.ts";
import type { MatchIndex } from "../../src/features/webhooks/match-index.ts";
import type { Attributes } from "../../src/features/webhooks/provider.ts";

/** An index of agents that each listen to events of their own repository, with one more filter. */
function indexOf(agents: number): MatchIndex {
  const index = createMatchIndex();
  for (let n = 0; n < agents; n++) {
    const filters = { repos: [`acme/app-${n}`], events: ["issues"] };
    index.set({ name: `agent-${n}`, scale: 1, webhooks: [binding(filters)] }, true);
  }
  return index;
}

const binding = (filters: Readonly<Record<string, readonly string[]>>) => ({
  ...{ source: "hub", type: "github" },
  filters,
});

/** How often the attributes of one event are looked at: each comparison with a filter is a look. */
function looksOf(index: MatchIndex, repo: string): number {
  let looks = 0;
  const attributes: Attributes = { repos: repo, events: "issues", actions: "opened", labels: [] };
  const counting = new Proxy(attributes, {
    get: (target, name) => {
      looks++;
      return Reflect.get(target, name) as unknown;
    },
  });
  index.match("hub", { attributes: counting, payload: {} });
  return looks;
}

test("a delivery for one agent is checked against as many filters with 1,000 agents as with 10", () => {
  const few = looksOf(indexOf(10), "acme/app-7");
  expect(few).toBeGreaterThan(0);
  expect(looksOf(indexOf(1_000), "acme/app-7")).toBe(few);
});

test("an unmatched delivery is explained with as many filters with 10,000 agents as with 1,000", () => {
  const many = looksOf(indexOf(1_000), "acme/other");
  expect(many).toBeLessThan(1_000);
  expect(looksOf(indexOf(10_000), "acme/other")).toBe(many);
});
