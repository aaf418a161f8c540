import { meets } from "../../../src/foundation/contracts/run-state.ts";
import type { Condition, Occurrence } from "../../../src/foundation/contracts/run-state.ts";

const occurrence: Occurrence = {
  kind: "webhook",
  agent: null,
  source: "gh",
  event: "issues",
  payload: { action: "opened", issue: { number: 7, labels: [{ name: "bug" }], milestone: null } },
};

test.each<[string, Partial<Condition>, boolean]>([
  ["is anything of its kind when nothing more is said", {}, true],
  ["is of its kind", { kind: "agent-call" }, false],
  ["comes from no other source", { source: "lab" }, false],
  ["is no other event", { event: "push" }, false],
  ["has its values", { where: { "issue.number": 7, action: "opened" } }, true],
  ["has its values within lists", { where: { "issue.labels.0.name": "bug" } }, true],
  ["has all of its values", { where: { "issue.number": 7, action: "closed" } }, false],
  ["has them in their own type", { where: { "issue.number": "7" } }, false],
  ["has null where null is wanted", { where: { "issue.milestone": null } }, true],
  ["has not nothing where null is wanted", { where: { "issue.assignee": null } }, false],
  ["has them as its own", { where: { "issue.labels.__proto__.length": 0 } }, false],
  ["does not look into texts", { where: { "action.0": "o" } }, false],
])("a wait's condition: %s", (_what, condition, expected) => {
  expect(meets(occurrence, { kind: "webhook", ...condition })).toBe(expected);
});

test("a wait's condition rejects a call whose context is not JSON if a value in it is wanted", () => {
  const call: Occurrence = { ...occurrence, kind: "agent-call", agent: "dev", payload: undefined };
  expect(meets(call, { kind: "agent-call", source: "gh" })).toBe(true);
  expect(meets(call, { kind: "agent-call", where: { a: null } })).toBe(false);
});
