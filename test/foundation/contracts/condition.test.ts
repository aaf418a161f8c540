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
  ["any event of its kind when it wants nothing more", {}],
  ["an event with its values", { where: { "issue.number": 7, action: "opened" } }],
  ["a value within a list", { where: { "issue.labels.0.name": "bug" } }],
  ["null where it wants null", { where: { "issue.milestone": null } }],
])("a wait's condition accepts %s", (_what, condition) =>
  expect(meets(occurrence, { kind: "webhook", ...condition })).toBe(true),
);

test.each<[string, Partial<Condition>]>([
  ["another kind", { kind: "agent-call" }],
  ["another source", { source: "lab" }],
  ["another event", { event: "push" }],
  ["an event with only one of its values", { where: { "issue.number": 7, action: "closed" } }],
  ["a number where it wants text", { where: { "issue.number": "7" } }],
  ["a missing value where it wants null", { where: { "issue.assignee": null } }],
  ["an inherited property", { where: { "issue.labels.__proto__.length": 0 } }],
  ["a character of a text", { where: { "action.0": "o" } }],
])("a wait's condition rejects %s", (_what, condition) =>
  expect(meets(occurrence, { kind: "webhook", ...condition })).toBe(false),
);

test("a wait's condition rejects a call whose context is not JSON if a value in it is wanted", () => {
  const call: Occurrence = { ...occurrence, kind: "agent-call", agent: "dev", payload: undefined };
  expect(meets(call, { kind: "agent-call", source: "gh" })).toBe(true);
  expect(meets(call, { kind: "agent-call", where: { a: null } })).toBe(false);
});
