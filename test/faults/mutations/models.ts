import type { Mutation } from "../mutation.ts";

const requestFields = ["test/runtime/run-api/model-gateway/request-fields.test.ts"];
const echoed = ["test/runtime/run-api/model-gateway/echoed-secrets.test.ts"];

/** What keeps a run from the keys of its models, and from asking them unmetered. */
export const models: readonly Mutation[] = [
  {
    defence: "a key that a provider repeats in another form reaches no run",
    file: "src/runtime/run-api/model-gateway/secrets.ts",
    find: "secrets.flatMap(encodedForms)",
    replace: "secrets",
    tests: ["test/runtime/run-api/repeated-secrets.test.ts"],
  },
  {
    defence: "a key that a provider repeats reaches no run",
    file: "src/runtime/run-api/model-gateway/forward-call.ts",
    find: "return withoutSecrets(answer, secretsOf(model));",
    replace: "return withoutSecrets(answer, secretsOf(model).slice(1, 1));",
    tests: ["test/e2e/model-keys.test.ts"],
    only: "scheduler's own user",
    built: true,
  },
  {
    defence: "a key that a provider repeats in two pieces reaches no run",
    file: "src/runtime/run-api/masked-bytes.ts",
    find: "held = bytes.subarray(end);",
    replace: "yield bytes.subarray(end);",
    tests: echoed,
  },
  {
    defence: "the bridge waits for a scheduler that is away, not for what stays as it is",
    file: "src/runtime/harness/bridge/while-away.ts",
    find: "if (!hasCode(error, ...awayCodes)) throw",
    replace: "if (awayCodes.length === 0) throw",
    tests: ["test/runtime/harness/bridge/away.test.ts"],
  },
  {
    defence: "an answer that broke off is asked once more",
    file: "src/runtime/harness/bridge/send-through.ts",
    find: "if (!gone.signal.aborted) through.onCut();",
    replace: "if (!gone.signal.aborted) setTimeout(through.onCut, 20);",
    tests: ["test/runtime/harness/bridge/bridge.test.ts"],
  },
  {
    defence: "a request to a model has documented fields alone",
    file: "src/runtime/run-api/model-gateway/rebuilt-request.ts",
    find: "? noFields : null;",
    replace: '? noFields : "json";',
    tests: requestFields,
  },
  {
    defence: "one object in place of a list of tools is checked as the list",
    file: "src/runtime/run-api/model-gateway/rebuilt-request.ts",
    find: "const values: readonly unknown[] = Array.isArray(given) ? given : [given];",
    replace:
      "if (!Array.isArray(given)) return given;\n    const values: readonly unknown[] = given;",
    tests: requestFields,
  },
  {
    defence: "a tool call whose arguments came cut is not executed",
    file: "src/runtime/harness/pi/whole-arguments.ts",
    find: "cut.has(toolCallId) ?",
    replace: "cut.has(`no ${toolCallId}`) ?",
    tests: ["test/runtime/harness/pi/cut-arguments.test.ts"],
  },
  {
    defence: "no negative count of tokens is charged",
    file: "src/runtime/run-api/model-gateway/json.ts",
    find: "Math.max(0, Math.ceil(found))",
    replace: "Math.ceil(found)",
    tests: ["test/runtime/run-api/model-gateway/usage.test.ts"],
    only: "no counts",
  },
  {
    defence: "an answer that the provider broke off is not asked again as one of a dead scheduler",
    file: "src/runtime/harness/bridge/send-through.ts",
    find: "if (isSent) through.onBroken();",
    replace: "if (isSent) through.onCut();",
    tests: ["test/runtime/harness/bridge/bridge.test.ts"],
  },
  {
    defence: "the limit that is reserved is the one that the provider takes",
    file: "src/runtime/run-api/model-gateway/apis/tokens-at.ts",
    find: "return Number.isInteger(value);",
    replace: 'return typeof value === "number" || typeof value === "string";',
    tests: ["test/runtime/run-api/model-gateway/limits.test.ts"],
  },
];
