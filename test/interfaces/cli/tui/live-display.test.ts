import { spawnSync } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { builtAl } from "../../../helpers/scheduler.ts";
import { wantsLiveView } from "../../../../src/interfaces/cli/tui/live-display.ts";
import type { TerminalFacts } from "../../../../src/interfaces/cli/tui/live-display.ts";
import { makeFolders } from "../fake-operator.ts";
import { perTest } from "../../../helpers/per-test.ts";

/** The live view and its packages, in the build. */
const liveView = resolve(
  dirname(builtAl),
  globSync("../chunks/live-view-*.mjs", { cwd: dirname(builtAl) })[0] ?? "",
);
/** Writes to standard error when a process loads it. */
const watch = `import { registerHooks } from "node:module";
registerHooks({ load(url, context, next) {
  if (url === ${JSON.stringify(pathToFileURL(liveView).href)}) console.error("loaded the live view");
  return next(url, context);
} });`;
const watching = `--import=data:text/javascript,${encodeURIComponent(watch)}`;
const folders = perTest(makeFolders, (folders) => folders.remove());

test.each([[["--help"]], [["start", "--help"]], [["start"]], [["_run-agent", "hello"]]])(
  "al %j without a terminal loads nothing of the live view",
  (args) => {
    writeFileSync(join(folders().projectDir, "config.toml"), "workQueueSize = 'much'");
    // A broken project: it starts nothing, with everything loaded that a start takes.
    const env = { ...process.env, NODE_OPTIONS: watching, AL_HOME: folders().home };
    const { projectDir: cwd } = folders();
    const { stderr } = spawnSync(process.execPath, [builtAl, ...args], {
      encoding: "utf8",
      env,
      cwd,
    });
    expect(stderr).not.toContain("loaded the live view");
  },
);

test("the watch notices the live view", () => {
  const args = [watching, "-e", `import(${JSON.stringify(liveView)})`];
  const { stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect(stderr).toBe("loaded the live view\n");
});

test("the build has only the production React: the other is slow and stores the times of every frame", () => {
  const code = readFileSync(liveView, "utf8");
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
