import type { Mutation } from "../mutation.ts";

const load = "test/features/spend/load.test.ts";
const killed = "test/features/spend/load-killed.test.ts";
const hangUp = "test/runtime/run-api/model-gateway/hang-up.test.ts";
const costs = "test/runtime/harness/pi/costs.test.ts";

/** What makes a cap a cap, and a cost the cost. */
export const spend: readonly Mutation[] = [
  {
    defence: "what open calls may cost is not given to others",
    file: "src/features/spend/rules/allot.ts",
    find: "cap - one.account.spent - one.account.reserved",
    replace: "cap - one.account.spent",
    tests: [load],
  },
  {
    defence: "the answer of a call is reserved, too",
    file: "src/features/spend/rules/allot.ts",
    find: "nano: input + costAt(rates.output, tokens),",
    replace: "nano: input,",
    tests: [load],
  },
  {
    defence: "what calls reserved that a killed scheduler left open is spent",
    file: "src/foundation/store/spend.ts",
    find: "UPDATE spend SET nano = nano + reserved, reserved = 0",
    replace: "UPDATE spend SET reserved = 0",
    tests: [killed],
  },
  {
    defence: "a stream that is cut costs what was seen of it",
    file: "src/runtime/run-api/model-gateway/call-end.ts",
    find: "return { usage: { ...known, output }, estimated: true };",
    replace: "return unbilled;",
    tests: [costs],
  },
  {
    defence: "an answer whose client hung up is read to its usage",
    file: "src/runtime/run-api/model-gateway/read-on.ts",
    find: "if (!isSent() || reading >= readOnCalls) return abort();",
    replace: "if (reading >= 0) return abort();",
    tests: [hangUp],
  },
  {
    defence: "an answer whose client hung up is not read without end",
    file: "src/runtime/run-api/model-gateway/read-on.ts",
    find: "timer ??= setTimeout(abort, readOnMs);",
    replace: "timer ??= setTimeout(() => undefined, readOnMs);",
    tests: [hangUp],
  },
  {
    defence: "a call that is cut costs what was reserved",
    file: "src/features/spend/call-cost.ts",
    find: "isCut ? Math.max(seen, reserved) : seen",
    replace: "isCut ? Math.min(seen, reserved) : seen",
    tests: ["test/features/spend/meter.test.ts"],
  },
  {
    defence: "a request is not served in a service tier that costs more than was reserved",
    file: "src/runtime/run-api/model-gateway/apis/service-tier.ts",
    find: 'provider === "openai" && isOpen',
    replace: 'provider === "groq" && isOpen',
    tests: ["test/runtime/run-api/model-gateway/limits.test.ts"],
  },
  {
    defence: "a run whose text has more tokens than usual reserves more",
    file: "src/features/spend/rules/input-estimate.ts",
    find: "Math.min(bytesPerToken, newBytes / newTokens)",
    replace: "Math.min(bytesPerToken, newBytes)",
    tests: ["test/features/spend/rules/input-estimate.test.ts"],
  },
  {
    defence: "an answer that counts no tokens costs what was seen of it",
    file: "src/runtime/run-api/model-gateway/call-end.ts",
    find: "const usage = hasTokens(reported) ? reported : null;",
    replace: "const usage = reported;",
    tests: ["test/runtime/run-api/model-gateway/uncounted.test.ts"],
  },
  {
    defence: "a cache entry for an hour costs twice the input",
    file: "src/foundation/contracts/price.ts",
    find: "const longWriteFactor = 2n;",
    replace: "const longWriteFactor = 1n;",
    tests: [costs],
  },
];
