import type { WebhookBinding } from "../../../streams/agent-config.ts";
import { turnedAwayText } from "../../../src/interfaces/views/delivery-words.ts";
import { explain } from "../../../src/features/webhooks/binding-index.ts";
import { createMatchIndex } from "../../../src/features/webhooks/match-index.ts";

const binding = (change: Partial<WebhookBinding>): WebhookBinding => ({
  source: "hub",
  type: "github",
  filters: {},
  ...change,
});
const event = {
  attributes: { events: "issues", repos: "acme/y", labels: [], sender: "bot-1", isBot: true },
  payload: { issue: { level: "error\n2" } },
};
const against = (...webhooks: readonly WebhookBinding[]) =>
  explain({ name: "dev", webhooks }, "hub", event)?.map((entry) =>
    entry.map(({ condition, wanted, got }) => ({ condition, wanted, got })),
  ) ?? null;
const text = (...webhooks: readonly WebhookBinding[]) =>
  turnedAwayText({ stoppedBy: (against(...webhooks) ?? []).map((one) => [...one]) });

test("each failed condition of a webhook filter shows the expected and the actual value", () => {
  const filters = { events: ["issues"], repos: ["acme/x", "acme/z"], labels: ["bug"] };
  expect(against(binding({ filters, where: { "issue.level": "fatal", "issue.id": 3 } }))).toEqual([
    [
      { condition: "repos", wanted: "acme/x or acme/z", got: "acme/y" },
      { condition: "labels", wanted: "bug", got: "none" },
      { condition: "where issue.level", wanted: '"fatal"', got: '"error 2"' },
      { condition: "where issue.id", wanted: "3", got: "missing" },
    ],
  ]);
});

test("the explanation of a webhook filter that excludes a value names the value", () =>
  expect(text(binding({ filters: { ignoreSenders: ["bot-1"] } }))).toBe(
    "ignoreSenders: wants none of bot-1, got bot-1",
  ));

test("the explanation of a webhook entry that does not ask for a deletion names the action to add", () => {
  const optIn = { filter: "actions", value: "deleted", path: "deleted" };
  const deletion = { attributes: { events: "push", actions: "deleted" }, payload: {}, optIn };
  const reasonsOf = (filters: WebhookBinding["filters"]) =>
    explain({ name: "dev", webhooks: [binding({ filters })] }, "hub", deletion);
  const why = { wanted: "no deleted unless it is named", got: "deleted" };
  expect(reasonsOf({ events: ["push"] })).toMatchObject([[{ condition: "actions", ...why }]]);
  expect(reasonsOf({ events: ["push"], actions: ["deleted"] })).toEqual([]);
});

test("a webhook event starts an agent if it passes one of the agent's webhook entries", () => {
  const [one, two] = [{ repos: ["acme/x"] }, { repos: ["acme/z"] }];
  expect(text(binding({ filters: one }), binding({ filters: two }))).toBe(
    "repos: wants acme/x, got acme/y; or repos: wants acme/z, got acme/y",
  );
  expect(against(binding({ filters: one }), binding({}))).toEqual([]);
  expect(text(binding({}))).toBe("its filters have changed since, and accept it now");
});

test("explain returns null for a webhook source that the agent does not listen to", () =>
  expect(against(binding({ source: "other" }))).toBe(null));

test("explain agrees with the match index about which webhook event starts which agent", () => {
  const index = createMatchIndex();
  const filters = [{}, { events: ["push"] }, { repos: ["ACME/y"] }, { labels: ["Bug"] }];
  for (const [n, one] of filters.entries()) {
    const agent = { name: `a${n}`, scale: 1, webhooks: [binding({ filters: one })] };
    index.set(agent, true);
    expect(explain(agent, "hub", event)?.length === 0).toBe(["a0", "a2"].includes(agent.name));
  }
  expect(index.match("hub", event).matched).toEqual(["a0", "a2"]);
});
