import { meets } from "../../../src/foundation/contracts/run-state.ts";
import type { Condition, Occurrence } from "../../../src/foundation/contracts/run-state.ts";

const occurrence: Occurrence = {
  kind: "webhook",
  agent: null,
  source: "gh",
  event: "issues",
  payload: { action: "opened", issue: { number: 7, labels: [{ name: "bug" }], milestone: null } },
};

test.each<[string, Partial<Condition>]>([
  ["an event with the required values", { where: { "issue.number": 7, action: "opened" } }],
  ["null where it requires null", { where: { "issue.milestone": null } }],
])("the condition of a waiting run accepts %s", (_what, condition) =>
  expect(meets(occurrence, { kind: "webhook", ...condition })).toBe(true),
);

test.each<[string, Partial<Condition>]>([
  ["another kind", { kind: "agent-call" }],
  ["another source", { source: "lab" }],
  ["another event", { event: "push" }],
  [
    "an event with only one of the required values",
    { where: { "issue.number": 7, action: "closed" } },
  ],
  ["a missing value where it requires null", { where: { "issue.assignee": null } }],
  ["an inherited property", { where: { "issue.labels.__proto__.length": 0 } }],
  ["a character of a text", { where: { "action.0": "o" } }],
])("the condition of a waiting run rejects %s", (_what, condition) =>
  expect(meets(occurrence, { kind: "webhook", ...condition })).toBe(false),
);

test("the condition of a waiting run rejects a call whose context is not JSON if it requires a value there", () => {
  const call: Occurrence = { ...occurrence, kind: "agent-call", agent: "dev", payload: undefined };
  expect(meets(call, { kind: "agent-call", source: "gh" })).toBe(true);
  expect(meets(call, { kind: "agent-call", where: { a: null } })).toBe(false);
});
