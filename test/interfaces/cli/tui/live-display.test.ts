import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { builtAl } from "../../../helpers/scheduler.ts";
import { wantsLiveView } from "../../../../src/interfaces/cli/tui/live-display.ts";
import type { TerminalFacts } from "../../../../src/interfaces/cli/tui/live-display.ts";

test("the build contains only React's production version", () => {
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

test.each([{ TERM: "xterm" }, { CI: "false" }])(
  "al start opens the live view on a terminal with %j",
  (env) => expect(wantsLiveView({ ...terminal, env })).toBe(true),
);

test.each([
  ["output to a file", { stdout: {} }],
  ["input from a file", { stdin: {} }],
  ["--headless", { headless: true }],
  ["--json", { json: true }],
  ["a CI system", { env: { CI: "true" } }],
  ["a terminal that can't move its cursor", { env: { TERM: "dumb" } }],
])("al start opens no live view with %s", (_name, facts) =>
  expect(wantsLiveView({ ...terminal, ...facts })).toBe(false),
);
