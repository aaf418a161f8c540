import type { Mutation } from "../mutation.ts";

/** What is logged of commands while they run. */
export const liveOutputs: readonly Mutation[] = [
  {
    defence: "a secret with a colour or another character inside that is not shown is not logged",
    file: "src/foundation/credentials/redactor.ts",
    find: "quick === null ? seen(lines) : lines",
    replace: "lines",
    tests: ["test/runtime/runners/masked-output.test.ts"],
    only: "whatever is inserted",
  },
  {
    defence: "a line is cut after its secrets are taken out",
    file: "src/runtime/runners/run-output.ts",
    find: "redact(text, output)",
    replace: "redact(text.slice(0, 8192), output)",
    tests: ["test/runtime/runners/masked-output.test.ts"],
    only: "where a line is cut",
  },
  {
    defence: "a secret that goes on in the next line is not logged",
    file: "src/runtime/runners/run-output.ts",
    find: "redact(text, output)",
    replace: "redact(text)",
    tests: ["test/runtime/runners/masked-output.test.ts"],
    only: "two or three lines",
  },
  {
    defence: "half of a secret is not logged while the other half is still to come",
    file: "src/runtime/harness/live-output.ts",
    find: 'Math.max(pending.lastIndexOf("\\n"), pending.lastIndexOf("\\r")) + 1',
    replace: "pending.length",
    tests: ["test/runtime/harness/live-output.test.ts"],
  },
  {
    defence: "a flood of output stays out of memory",
    file: "src/runtime/harness/live-output.ts",
    find: "    if (pending.length <= pieceCharacters) return;\n",
    replace: "    if (!isInLongLine) return;\n",
    tests: ["test/runtime/harness/live-output.test.ts"],
  },
  {
    defence: "an hour of output does not fill the log while it comes",
    file: "src/runtime/harness/live-call.ts",
    find: "Math.max(shortestMs, durationMs * share)",
    replace: "shortestMs",
    tests: ["test/runtime/harness/live-call.test.ts"],
  },
  {
    defence: "a session's running commands have a bound for what they log together",
    file: "src/runtime/harness/transcript.ts",
    find: "live > liveCharacters ||",
    replace: "",
    tests: ["test/runtime/harness/transcript.test.ts"],
  },
];
