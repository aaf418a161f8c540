import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import type { Mutation } from "./mutation.ts";
import { mutations } from "./mutations.ts";
import { PrivateCopy } from "./private-copy.ts";
import type { Verdict } from "./private-copy.ts";

// node test/faults/mutate.ts [--only <part of a defence or file>] [--write test/faults/mutations.md]
// Takes each defence away in a private copy and says which test noticed; exits with 1 when none did.

const { values } = parseArgs({
  options: { only: { type: "string", default: "" }, write: { type: "string" } },
});
const chosen = mutations.filter(({ defence, file }) => `${defence} ${file}`.includes(values.only));

interface Line {
  readonly mutation: Mutation;
  readonly killedBy: string | null;
}

const copy = await PrivateCopy.make();
const whole = new Map<string, Promise<Verdict>>();
const lines: Line[] = [];
try {
  for (const mutation of chosen) {
    const line = { mutation, killedBy: await killerOf(mutation) };
    lines.push(line);
    process.stderr.write(
      `${line.killedBy === null ? "SURVIVED" : "killed  "}  ${mutation.defence}\n`,
    );
  }
} finally {
  await copy.remove();
}

/** The first test that fails without the defence, and passes with it. */
async function killerOf(mutation: Mutation): Promise<string | null> {
  const { tests, only = "", built = false } = mutation;
  const key = JSON.stringify([tests, only, built]);
  const before = await (whole.get(key) ?? copy.test(mutation));
  whole.set(key, Promise.resolve(before));
  if (before.failed.length > 0 || before.passed === 0) {
    throw new Error(`not green with the defence: ${key} ${before.failed.join(", ")}`);
  }
  const { failed, passed } = await copy.mutated(mutation);
  return failed[0] ?? (passed === 0 ? "nothing can be loaded" : null);
}

const cell = (text: string) => text.replaceAll("|", "\\|").replace(/\s+/g, " ").trim();
const table = [
  "| defence | mutation | test that fails |",
  "|---|---|---|",
  ...lines.map(({ mutation: { defence, file, find, replace }, killedBy }) => {
    const change = `\`${file}\`: \`${cell(find)}\` → \`${cell(replace) || " "}\``;
    return `| ${cell(defence)} | ${change} | ${cell(killedBy ?? "**none**")} |`;
  }),
].join("\n");

process.stdout.write(`${table}\n`);
if (values.write !== undefined) await writeFile(values.write, `${preface()}${table}\n`);
process.exitCode = lines.some(({ killedBy }) => killedBy === null) ? 1 : 0;

function preface(): string {
  return `# Defences, and the test that fails without each

Written by \`node test/faults/mutate.ts --write test/faults/mutations.md\`, from \`mutations/\`.

`;
}
