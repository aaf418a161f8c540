import { globSync, readFileSync } from "node:fs";
import { dirname, join, posix, resolve } from "node:path";

/** Compares "**Imported by** …" and "**Imports** …" of each README with the imports in the code. */
const root = resolve(import.meta.dirname, "..");
const readmes = globSync(["src/*/**/README.md", "streams/README.md"], { cwd: root }).map(
  (path) => ({ path, text: readFileSync(join(root, path), "utf8") }),
);

const imports = globSync(["src/**/*.{ts,tsx}", "streams/**/*.ts"], { cwd: root }).flatMap((from) =>
  [...readFileSync(join(root, from), "utf8").matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map(
    ([, to = ""]) => ({ from, to: posix.join(posix.dirname(from), to) }),
  ),
);

test.each(readmes)(
  "$path lists exactly the folders that import its folder, and that its folder imports",
  ({ path, text }) => {
    const folder = dirname(path);
    const outside = imports.filter(({ from, to }) => isIn(from, folder) !== isIn(to, folder));
    const others = (files: readonly string[]) => files.filter((file) => !isIn(file, folder));
    compare(paths(text, "Imported by"), others(outside.map(({ from }) => from)));
    compare(paths(text, "Imports"), others(outside.map(({ to }) => to)));
  },
);

/** The paths in backticks of the sentence that begins with this word in bold. */
function paths(text: string, word: string): readonly string[] {
  const [, sentence = ""] = new RegExp(`\\*\\*${word}\\*\\*([^]*?)\\.\\s`).exec(text) ?? [];
  return [...sentence.matchAll(/`((?:src|streams)[^`]*)`/g)].map(([, path = ""]) => path);
}

function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function compare(claimed: readonly string[], files: readonly string[]): void {
  const missing = files.filter((file) => !claimed.some((path) => isIn(file, path)));
  const unused = claimed.filter((path) => !files.some((file) => isIn(file, path)));
  expect({ missing, unused }).toEqual({ missing: [], unused: [] });
}

/** Parts of the program by which people and runs reach a feature, and its wiring. */
const kinds = {
  tables: "src/features/open-store.ts",
  wiring: "src/start/",
  runs: "src/runtime/runs/",
  agents: "src/runtime/agents/",
  operation: "src/interfaces/operations/",
  route: "src/interfaces/gateway/",
  tool: "src/interfaces/mcp/tools/",
  page: "src/interfaces/dashboard/",
  command: "src/interfaces/cli/",
  check: "src/interfaces/doctor/",
  view: "src/interfaces/views/",
} as const;
/** What breaks if the folder of a feature is deleted; a path is the only file of its room. */
const importers: Readonly<Record<string, string>> = {
  alerts: "tables wiring runs page command check operation",
  artifacts: "tables wiring runs operation route page command tool",
  "github-app": "wiring command check src/runtime/run-api/egress/broker/brokering.ts",
  heartbeat: "wiring",
  mcp: "tables wiring runs",
  memory: "tables wiring runs operation route tool page command view",
  models: "wiring runs command check src/runtime/harness/pi/pi-models.ts",
  people: "tables wiring runs operation route page command",
  search: "wiring operation tool page command",
  sessions: "tables wiring runs operation page",
  skills: "runs page command",
  spend:
    "tables wiring runs operation page command check view src/runtime/run-api/model-gateway/answer-tap.ts",
  telemetry: "wiring check",
  tokens: "tables wiring operation route page command",
  versions: "runs",
  workspace: "wiring runs",
  webhooks: "tables wiring runs agents operation route page command check view",
};

function kindOf(file: string): string {
  return Object.entries(kinds).find(([, start]) => file.startsWith(start))?.[0] ?? file;
}

test("the table of features has a row for each folder of src/features", () => {
  const names = globSync("src/features/*/", { cwd: root }).map((path) => posix.basename(path));
  expect(Object.keys(importers).sort()).toEqual(names.sort());
});

test.each(Object.entries(importers))("only its own parts break without %s", (name, allowed) => {
  const folder = `src/features/${name}/`;
  const broken = imports.filter(
    ({ from, to }) => to.startsWith(folder) && !from.startsWith(folder),
  );
  const found = new Set(broken.map(({ from }) => kindOf(from)));
  expect([...found].sort()).toEqual(allowed.split(" ").sort());
});
