import { expect, test } from "vitest";
import type { WebhookBinding } from "../../../streams/agent-config.ts";
import { turnedAwayText } from "../../../src/foundation/contracts/delivery-words.ts";
import { mismatchesOf } from "../../../src/features/webhooks/mismatches.ts";

const binding = (change: Partial<WebhookBinding>): WebhookBinding => ({
  ...{ source: "hub", type: "github", filters: {} },
  ...change,
});
const event = {
  attributes: { events: "issues", repos: "acme/y", labels: [], sender: "bot-1", isBot: true },
  payload: { issue: { level: "error\n2" } },
};
const against = (...webhooks: readonly WebhookBinding[]) =>
  mismatchesOf({ name: "dev", webhooks }, "hub", event);
const text = (...webhooks: readonly WebhookBinding[]) =>
  turnedAwayText({ stoppedBy: (against(...webhooks) ?? []).map((one) => [...one]) });

test("each condition that fails has what it wants and what it got", () => {
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

test("what is kept out is named as that", () => {
  expect(text(binding({ filters: { ignoreSenders: ["bot-1"] } }))).toBe(
    "ignoreSenders: wants none of bot-1, got bot-1",
  );
});

test("entries are alternatives; one that lets it through is enough", () => {
  const [one, two] = [{ repos: ["acme/x"] }, { repos: ["acme/z"] }];
  expect(text(binding({ filters: one }), binding({ filters: two }))).toBe(
    "repos: wants acme/x, got acme/y; or repos: wants acme/z, got acme/y",
  );
  expect(against(binding({ filters: one }), binding({}))).toEqual([]);
  expect(text(binding({}))).toBe("its filters changed since, and let it through now");
});

test("a source that the agent does not listen to turns nothing away", () => {
  expect(against(binding({ source: "other" }))).toBe(null);
});
