import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const root = resolve(import.meta.dirname, "..");

interface Report {
  readonly summary: {
    readonly violations: readonly { rule: { name: string }; from: string; to: string }[];
  };
}

/** Runs the check of `npm run check:imports` on a tree. */
function check(tree: string, ...options: string[]) {
  const args = ["--config", ".dependency-cruiser.cjs", ...options, "src", "streams"];
  return spawnSync(join(root, "node_modules/.bin/depcruise"), args, {
    cwd: tree,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
}

/** `rule: from → to` of each arrow against the drawing. */
function violationsIn(tree: string): string[] {
  const { summary } = JSON.parse(check(tree, "--output-type", "json").stdout) as Report;
  return summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`);
}

function copyOfTree(): string {
  const copy = mkdtempSync(join(tmpdir(), "al-imports-"));
  for (const path of [
    "src",
    "streams",
    "tsconfig.json",
    "package.json",
    ".dependency-cruiser.cjs",
  ]) {
    cpSync(join(root, path), join(copy, path), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}

test("the tree as it is passes", () => {
  expect(violationsIn(root)).toEqual([]);
  expect(check(root).status).toBe(0);
});

/** Each bad import in a file of its own: the file, its text, and the rule that must name it. */
const wrongs = [
  [
    "no-circle",
    "src/interfaces/cli/one.ts",
    'import { two } from "./two.ts";\nexport const one = () => two;',
  ],
  [
    "no-circle",
    "src/interfaces/cli/two.ts",
    'import { one } from "./one.ts";\nexport const two = () => one;',
  ],
  [
    "no-circle",
    "src/interfaces/cli/t1.ts",
    'import type { T2 } from "./t2.ts";\nexport type T1 = T2[];',
  ],
  [
    "no-circle",
    "src/interfaces/cli/t2.ts",
    'import type { T1 } from "./t1.ts";\nexport type T2 = T1[];',
  ],
  ["streams-import-themselves", "streams/runs/reads-a-file.ts", 'import "node:fs";'],
  [
    "streams-import-themselves",
    "streams/status/knows-an-edge.ts",
    'import "../../src/foundation/errors.ts";',
  ],
  ["rules-are-pure", "src/features/spend/rules/reads-a-file.ts", 'import "node:fs";'],
  [
    "rules-are-pure",
    "src/runtime/runs/rules/stores.ts",
    'import "../../../foundation/store/store.ts";',
  ],
  ["stages-do-not-know-each-other", "streams/runs/ticks.ts", 'import "../triggers/cron.ts";'],
  [
    "only-its-wiring-imports-the-runtime",
    "src/interfaces/gateway/runs.ts",
    'import "../../../streams/runtime.ts";',
  ],
  [
    "foundation-imports-itself",
    "src/foundation/store/prices.ts",
    'import "../../features/models/prices.ts";',
  ],
  ["contracts-stand-alone", "src/foundation/contracts/knows.ts", 'import "../store/store.ts";'],
  [
    "features-import-the-foundation",
    "src/features/alerts/meters.ts",
    'import "../spend/meter.ts";',
  ],
  [
    "features-import-the-foundation",
    "src/features/webhooks/runs.ts",
    'import "../../runtime/runs/live-runs.ts";',
  ],
  [
    "runtime-imports-features",
    "src/runtime/runs/serves.ts",
    'import "../../interfaces/gateway/metrics.ts";',
  ],
  [
    "interfaces-import-the-runtime",
    "src/interfaces/operations/wires.ts",
    'import "../../start/http.ts";',
  ],
  [
    "only-the-command-line-imports-the-root",
    "src/interfaces/doctor/starts.ts",
    'import "../../start/start.ts";',
  ],
  ["the-command-line-is-the-top", "src/start/prints.ts", 'import "../interfaces/cli/context.ts";'],
  [
    "only-the-command-line-asks-the-doctor",
    "src/start/asks.ts",
    'import "../interfaces/doctor/finding.ts";',
  ],
  ["the-setup-stands-alone", "src/setup/early.ts", 'import "../foundation/errors.ts";'],
  ["no-test-code-in-the-program", "src/interfaces/cli/tests.ts", 'import "../../../test/leaf.ts";'],
] as const;

test("each folder stands in a rule", () => {
  const rules = readFileSync(join(root, ".dependency-cruiser.cjs"), "utf8");
  const folders = ["src", "streams"].flatMap((dir) =>
    readdirSync(join(root, dir), { withFileTypes: true }).filter((entry) => entry.isDirectory()),
  );
  const missing = folders.filter(({ name }) => !new RegExp(`[/(|]${name}[/)|]`).test(rules));
  expect(missing.map(({ name }) => name)).toEqual([]);
});

/** A circle is reported once, at one of its ends. */
function names(rule: string, path: string): (violation: string) => boolean {
  return (violation) => violation.startsWith(`${rule}: `) && violation.includes(path);
}

describe("an arrow against the drawing fails", () => {
  let copy: string;
  let violations: string[];

  beforeAll(() => {
    copy = copyOfTree();
    cpSync(join(root, "test/tsconfig.json"), join(copy, "test/tsconfig.json"), { recursive: true });
    writeFileSync(join(copy, "test/leaf.ts"), "export const leaf = 1;\n");
    for (const [, path, text] of wrongs) writeFileSync(join(copy, path), `${text}\n`);
    appendFileSync(join(copy, "streams/vocabulary.ts"), '\nimport "rxjs";\n');
    violations = violationsIn(copy);
  });

  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  test("the check's exit code says so", () => expect(check(copy).status).not.toBe(0));

  test.each(wrongs)("%s in %s", (rule, path) => {
    expect(violations.some(names(rule, path))).toBe(true);
  });

  test.each([["vocabulary-imports-nothing", "streams/vocabulary.ts"]])("%s", (rule, path) => {
    expect(violations.some(names(rule, path))).toBe(true);
  });
});
