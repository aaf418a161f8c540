import { expect, test } from "vitest";
import { wantsLiveView } from "../../../../src/interfaces/cli/tui/wants-live-view.ts";
import type { TerminalFacts } from "../../../../src/interfaces/cli/tui/wants-live-view.ts";

const terminal: TerminalFacts = {
  stdin: { isTTY: true },
  stdout: { isTTY: true },
  env: { TERM: "xterm" },
  headless: false,
  json: false,
};

test("a terminal gets the live view", () => expect(wantsLiveView(terminal)).toBe(true));

test.each<[string, Partial<TerminalFacts>]>([
  ["output that goes elsewhere", { stdout: {} }],
  ["input that comes from elsewhere", { stdin: {} }],
  ["--headless", { headless: true }],
  ["--json", { json: true }],
  ["a CI system", { env: { CI: "true" } }],
  ["a terminal that can't move its cursor", { env: { TERM: "dumb" } }],
])("%s gets lines", (_, surroundings) => {
  expect(wantsLiveView({ ...terminal, ...surroundings })).toBe(false);
});

test("CI=false is no CI system", () => {
  expect(wantsLiveView({ ...terminal, env: { CI: "false" } })).toBe(true);
});
