import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { builtAl } from "../../../helpers/scheduler.ts";
import { wantsLiveView } from "../../../../src/interfaces/cli/tui/live-display.ts";
import type { TerminalFacts } from "../../../../src/interfaces/cli/tui/live-display.ts";

test("the build has only the production React: the other is slow and stores the times of every frame", () => {
  const chunks = resolve(builtAl, "../../chunks");
  const [liveView = ""] = globSync("live-view-*.mjs", { cwd: chunks });
  const code = readFileSync(join(chunks, liveView), "utf8");
  expect(code).toContain("react-reconciler.production");
  expect(code).not.toMatch(/react\S*development/);
});

const terminal: TerminalFacts = {
  stdin: { isTTY: true },
  stdout: { isTTY: true },
  env: { TERM: "xterm" },
  headless: false,
  json: false,
};

test.each<[string, Partial<TerminalFacts>, boolean]>([
  ["a terminal", {}, true],
  ["a terminal with CI=false", { env: { CI: "false" } }, true],
  ["output to a file", { stdout: {} }, false],
  ["input from a file", { stdin: {} }, false],
  ["--headless", { headless: true }, false],
  ["--json", { json: true }, false],
  ["a CI system", { env: { CI: "true" } }, false],
  ["a terminal that can't move its cursor", { env: { TERM: "dumb" } }, false],
])("opens the live view for %s with %j: %j", (_name, facts, isLive) => {
  expect(wantsLiveView({ ...terminal, ...facts })).toBe(isLive);
});
