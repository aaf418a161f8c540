import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import type { Mutation } from "./mutation.ts";
import { mutations } from "./mutations.ts";
import { PrivateCopy } from "./private-copy.ts";
import type { Verdict } from "./private-copy.ts";

// node test/faults/mutate.ts [--only <part of a defence or file>]… [--write test/faults/mutations.md]
// Takes each defence away in a private copy and says which test noticed; exits with 1 when none did.

const { values } = parseArgs({
  options: { only: { type: "string", multiple: true, default: [""] }, write: { type: "string" } },
});
const chosen = mutations.filter(({ defence, file }) =>
  values.only.some((part) => `${defence} ${file}`.includes(part)),
);

const whole = new Map<string, Promise<Verdict>>();
const rows = ["| defence | mutation | test that fails |", "|---|---|---|"];
let survivors = 0;
const copy = await PrivateCopy.make();
try {
  for (const mutation of chosen) {
    const killer = await killerOf(mutation);
    if (killer === null) survivors += 1;
    rows.push(rowOf(mutation, killer ?? "**none**"));
    process.stderr.write(`${killer === null ? "SURVIVED" : "killed  "}  ${mutation.defence}\n`);
  }
} finally {
  await copy.remove();
  process.stdout.write(`${rows.join("\n")}\n`);
}
if (values.write !== undefined) await writeFile(values.write, `${preface()}${rows.join("\n")}\n`);
process.exitCode = survivors > 0 ? 1 : 0;

/** The first test that fails without the defence, and passes with it; null for none. */
async function killerOf(mutation: Mutation): Promise<string | null> {
  const { tests, only = "", built = false } = mutation;
  const key = JSON.stringify([tests, only, built]);
  const before = await (whole.get(key) ?? copy.test(mutation));
  whole.set(key, Promise.resolve(before));
  if (before.failed.length > 0 || before.passed === 0) {
    process.stderr.write(`not green with the defence: ${key} ${before.failed.join(", ")}\n`);
    return null;
  }
  const { failed, passed } = await copy.mutated(mutation);
  return failed[0] ?? (passed === 0 ? "nothing can be loaded" : null);
}

function rowOf({ defence, file, find, replace }: Mutation, killer: string): string {
  const change = `\`${file}\`: \`${cell(find)}\` → \`${cell(replace) || " "}\``;
  return `| ${cell(defence)} | ${change} | ${cell(killer)} |`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replace(/\s+/g, " ").trim();
}

function preface(): string {
  return `# Defences, and the test that fails without each

Written by \`node test/faults/mutate.ts --write test/faults/mutations.md\`, from \`mutations/\`.

`;
}
