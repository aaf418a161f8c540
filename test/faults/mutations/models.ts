import type { Mutation } from "../mutation.ts";

const echoed = ["test/run-api/model-gateway/echoed-secrets.test.ts"];

/** What keeps a run from the keys of its models, and from asking them unmetered. */
export const models: readonly Mutation[] = [
  {
    defence: "a key that a provider repeats reaches no run",
    file: "src/run-api/model-gateway/forward-call.ts",
    find: "return withoutSecrets(answer, secretsOf(model));",
    replace: "return withoutSecrets(answer, secretsOf(model).slice(1, 1));",
    tests: ["test/e2e/model-keys.test.ts"],
    only: "scheduler's own user",
    built: true,
  },
  {
    defence: "a key that a provider repeats in two pieces reaches no run",
    file: "src/run-api/masked-bytes.ts",
    find: "held = bytes.subarray(end);",
    replace: "yield bytes.subarray(end);",
    tests: echoed,
  },
  {
    defence: "the bridge waits for a scheduler that is away, not for what stays as it is",
    file: "src/harness/bridge/while-away.ts",
    find: "if (!hasCode(error, ...awayCodes)) throw",
    replace: "if (awayCodes.length === 0) throw",
    tests: ["test/harness/bridge/away.test.ts"],
  },
  {
    defence: "an answer that broke off is asked once more",
    file: "src/harness/bridge/send-through.ts",
    find: "if (!gone.signal.aborted) through.onCut();",
    replace: "if (!gone.signal.aborted) setTimeout(through.onCut, 20);",
    tests: ["test/harness/bridge/bridge.test.ts"],
  },
  {
    defence: "the limit that is reserved is the one that the provider takes",
    file: "src/run-api/model-gateway/apis/tokens-at.ts",
    find: "return Number.isInteger(value);",
    replace: 'return typeof value === "number" || typeof value === "string";',
    tests: ["test/run-api/model-gateway/limits.test.ts"],
  },
];
