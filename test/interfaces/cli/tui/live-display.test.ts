import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { builtAl } from "../../../helpers/scheduler.ts";
import { loadLiveView, wantsLiveView } from "../../../../src/interfaces/cli/tui/live-display.ts";
import type { TerminalFacts } from "../../../../src/interfaces/cli/tui/live-display.ts";
import { makeFolders } from "../fake-operator.ts";
import type { Folders } from "../fake-operator.ts";

const src = resolve(import.meta.dirname, "../../../../src");
/** Tells on standard error which packages of the live view a process loads. */
const watch = `import { registerHooks } from "node:module";
registerHooks({ resolve(name, context, next) {
  if (["ink", "react", "string-width"].includes(name)) process.stderr.write("loaded " + name + "\\n");
  return next(name, context);
} });`;
const watching = `--import=data:text/javascript,${encodeURIComponent(watch)}`;

let folders: Folders;
beforeEach(() => {
  folders = makeFolders();
});
afterEach(() => folders.remove());

test.each([[["--help"]], [["start", "--help"]], [["start"]], [["_run-agent", "hello"]]])(
  "al %j without a terminal loads nothing of the live view",
  (args) => {
    writeFileSync(join(folders.projectDir, "config.toml"), "workQueueSize = 'much'");
    // A broken project: it starts nothing, with everything loaded that a start takes.
    const env = { ...process.env, NODE_OPTIONS: watching, AL_HOME: folders.home };
    const { projectDir: cwd } = folders;
    const { stderr } = spawnSync(process.execPath, [builtAl, ...args], {
      encoding: "utf8",
      env,
      cwd,
    });
    expect(stderr).not.toContain("loaded ");
  },
);

test("the live view loads them, and the React that is not for developers", () => {
  // What is only searched for exported names stands there without being loaded.
  const script = `const { ${loadLiveView.name} } = await import("${src}/interfaces/cli/tui/live-display.ts");
    await loadLiveView();
    const { createRequire } = await import("node:module");
    const loaded = Object.values(createRequire("${src}/x.js").cache).filter((one) => one.loaded);
    const files = loaded.map(({ filename }) => filename).join(" ");
    console.log(/react\\.(\\w+)/.exec(files)[1], /react\\S*development/.test(files), process.env.NODE_ENV);`;
  const args = [watching, "--input-type=module", "-e", script];
  const env = { ...process.env, NODE_ENV: "test" };
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", env });
  expect(stderr).toContain("loaded ink");
  expect(stdout).toBe("production false test\n");
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
