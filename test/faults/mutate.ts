import { parseArgs } from "node:util";
import { mutations, type Mutation } from "./mutations.ts";
import { PrivateCopy, type Verdict } from "./private-copy.ts";

// node test/faults/mutate.ts [--only <part of a defence or file>]…
// Removes each defence in a private copy and prints the test that fails; exits with 1 if no test fails.

const { values } = parseArgs({
  options: { only: { type: "string", multiple: true, default: [""] } },
});
const chosen = mutations.filter(({ defence, file }) =>
  values.only.some((part) => `${defence} ${file}`.includes(part)),
);

const whole = new Map<string, Promise<Verdict>>();
let survivors = 0;
const copy = await PrivateCopy.make();
try {
  for (const mutation of chosen) {
    const killer = await killerOf(mutation);
    if (killer === null) survivors += 1;
    const verdict = killer === null ? "SURVIVED" : `killed by ${killer}`;
    process.stdout.write(`${mutation.defence}: ${verdict}\n`);
  }
} finally {
  await copy.remove();
}
process.exitCode = survivors > 0 ? 1 : 0;

/** The first test that fails without the defence and passes with it; null if no test does. */
async function killerOf(mutation: Mutation): Promise<string | null> {
  const { test, only = "", built = false } = mutation;
  const key = JSON.stringify([test, only, built]);
  const before = await (whole.get(key) ?? copy.test(mutation));
  whole.set(key, Promise.resolve(before));
  if (before.failed.length > 0 || before.passed === 0) {
    process.stderr.write(`not green with the defence: ${key} ${before.failed.join(", ")}\n`);
    return null;
  }
  const { failed, passed } = await copy.mutated(mutation);
  return failed[0] ?? (passed === 0 ? "nothing can be loaded" : null);
}
