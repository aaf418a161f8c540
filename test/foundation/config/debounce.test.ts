import { describeChange } from "../../../src/foundation/config/agent-view.ts";
import { agent, agentChange, refusal, usualAgent } from "./samples.ts";

const withTable = (lines: string): string => `${usualAgent}[debounce]\n${lines}\n`;

test("[debounce] is null if the table is missing, and has defaults for missing keys", () => {
  expect(agent(usualAgent).debounce).toBeNull();
  const usual = { key: null, quietMs: 30_000, mostMs: 300_000, deliver: "latest" };
  expect(agent(withTable("")).debounce).toEqual(usual);
  const lines = 'key = "{repository}#{number}"\nquiet = "90s"\nmost = "2h"\ndeliver = "all"';
  expect(agent(withTable(lines)).debounce).toEqual({
    key: "{repository}#{number}",
    quietMs: 90_000,
    mostMs: 7_200_000,
    deliver: "all",
  });
});

test.each([
  ['quiet = "0s"', "debounce.quiet"],
  ['most = "25h"', "debounce.most"],
  ['quiet = "never"', "debounce.quiet"],
  ['key = "{repo}"', "{repo} is not an attribute"],
  ['key = "all"', "it names no attribute"],
  ['deliver = "first"', "debounce.deliver"],
])("[debounce] refuses %s with the reason", (lines, reason) => {
  expect(refusal(agentChange(withTable(lines)))).toContain(reason);
});

test("a change of [debounce] is described by its keys", () => {
  const [before, after] = [agent(usualAgent), agent(withTable('quiet = "10s"'))];
  expect(describeChange(before, after)).toContain('debounce.quiet none → "10s"');
});
