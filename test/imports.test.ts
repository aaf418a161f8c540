import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");

interface Report {
  readonly summary: {
    readonly violations: readonly { rule: { name: string }; from: string; to: string }[];
  };
}

/** Files that each import one that their folder must not, and the rule that must name it. */
const wrongs = `
no-circle                              src/interfaces/cli/one.ts                ./two.ts
no-circle                              src/interfaces/cli/two.ts                ./one.ts
no-circle                              src/interfaces/cli/t1.ts                 type ./t2.ts
no-circle                              src/interfaces/cli/t2.ts                 type ./t1.ts
streams-import-themselves              streams/runs/reads-a-file.ts             node:fs
streams-import-themselves              streams/status/knows-an-edge.ts          ../../src/foundation/errors.ts
rules-are-pure                         src/features/spend/rules/reads-a-file.ts node:fs
rules-are-pure                         src/runtime/runs/rules/stores.ts         ../../../foundation/store/store.ts
stages-do-not-know-each-other          streams/runs/ticks.ts                    ../triggers/cron.ts
only-its-wiring-imports-the-runtime    src/interfaces/gateway/runs.ts           ../../../streams/runtime.ts
foundation-imports-itself              src/foundation/store/prices.ts           ../../features/models/prices.ts
contracts-stand-alone                  src/foundation/contracts/knows.ts        ../store/store.ts
features-import-the-foundation         src/features/alerts/meters.ts            ../spend/meter.ts
features-import-the-foundation         src/features/webhooks/runs.ts            ../../runtime/runs/live-runs.ts
runtime-imports-features               src/runtime/runs/serves.ts               ../../interfaces/gateway/metrics.ts
both-sides-of-a-run-meet-in-wire       src/runtime/harness/knows-runners.ts    ../runners/run-exit.ts
both-sides-of-a-run-meet-in-wire       src/runtime/wire/knows-a-side.ts        ../run-api/app.ts
runs-do-not-know-the-cluster           src/runtime/runs/places.ts              ../cluster/checked.ts
interfaces-import-the-runtime          src/interfaces/operations/wires.ts       ../../start/http.ts
only-the-command-line-imports-the-root src/interfaces/doctor/starts.ts          ../../start/start.ts
the-command-line-is-the-top            src/start/prints.ts                      ../interfaces/cli/context.ts
only-the-command-line-asks-the-doctor  src/start/asks.ts                        ../interfaces/doctor/finding.ts
the-setup-stands-alone                 src/setup/early.ts                       ../foundation/errors.ts
no-test-code-in-the-program            src/interfaces/cli/tests.ts              ../../../test/leaf.ts
vocabulary-imports-nothing             streams/vocabulary.ts                    rxjs`
  .trim()
  .split("\n")
  .map((line) => /^(\S+) +(\S+) +(type )?(\S+)$/.exec(line) ?? [])
  .map(([, rule = "", path = "", type = "", to = ""]) => ({ rule, path, type, to }));

let copy: string;
let violations: readonly string[];

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), "al-imports-"));
  for (const path of ["src", "streams", "tsconfig.json", "package.json"]) {
    cpSync(join(root, path), join(copy, path), { recursive: true });
  }
  for (const path of [".dependency-cruiser.cjs", "test/tsconfig.json"]) {
    cpSync(join(root, path), join(copy, path), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  writeFileSync(join(copy, "test/leaf.ts"), "export const leaf = 1;\n");
  for (const { path, type, to } of wrongs) {
    mkdirSync(join(copy, path, ".."), { recursive: true });
    const text = type === "" ? `\nimport "${to}";\n` : `export type T = import("${to}").T[];\n`;
    appendFileSync(join(copy, path), text);
  }
  const args = ["--config", ".dependency-cruiser.cjs", "--output-type", "json", "src", "streams"];
  const depcruise = join(root, "node_modules/.bin/depcruise");
  const options = { cwd: copy, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 } as const;
  const { summary } = JSON.parse(spawnSync(depcruise, args, options).stdout) as Report;
  violations = summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`);
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

// A circle is reported once, at one of its ends.
test.each(wrongs)("$rule rejects the import of $to by $path", ({ rule, path }) => {
  const named = violations.filter((line) => line.startsWith(`${rule}: `) && line.includes(path));
  expect(named).not.toEqual([]);
});

test("each folder of src and streams is named in an import rule", () => {
  const rules = readFileSync(join(root, ".dependency-cruiser.cjs"), "utf8");
  const folders = ["src", "streams"].flatMap((dir) =>
    readdirSync(join(root, dir), { withFileTypes: true }).filter((entry) => entry.isDirectory()),
  );
  const missing = folders.filter(({ name }) => !new RegExp(`[/(|]${name}[/)|]`).test(rules));
  expect(missing.map(({ name }) => name)).toEqual([]);
});
