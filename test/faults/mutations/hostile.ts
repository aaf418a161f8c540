import type { Mutation } from "../mutation.ts";

/** A run that wants a secret at another place than its host's door. */
const tests = ["test/runtime/run-api/egress/broker/hostile.test.ts"];

export const hostile: readonly Mutation[] = [
  {
    defence: "secrets are in no header that a host may show to others",
    file: "src/runtime/run-api/egress/broker/substitute.ts",
    find: "if (!isForSecrets(name)) return",
    replace: "if (!isForSecrets(name) && name === host) return",
    tests,
  },
  {
    defence: "a host that never answers keeps no socket of a tunnel that closed",
    file: "src/runtime/run-api/egress/broker/upstream.ts",
    find: "    this.#over.abort();",
    replace: "    if (this.#over.signal.aborted) this.#over.abort();",
    tests,
  },
  {
    defence: "an answer in a transfer coding that can't be read is not passed on",
    file: "src/runtime/run-api/egress/broker/pass-answer.ts",
    find: 'coding.toLowerCase() === "chunked"',
    replace: 'coding !== ""',
    tests: ["test/runtime/run-api/egress/broker/pass-answer.test.ts"],
  },
  {
    defence: "lookups of names that nothing waits for any more are not made",
    file: "src/runtime/run-api/egress/resolve.ts",
    find: "AbortSignal.any([runSignal, late.signal])",
    replace: "AbortSignal.any([late.signal])",
    tests: ["test/runtime/run-api/egress/resolve.test.ts"],
  },
  {
    defence: "silent names of one run leave a place for the lookups of others",
    file: "src/runtime/run-api/egress/resolve.ts",
    find: "{ total: 2, perOwner: 1 }",
    replace: "{ total: 2, perOwner: 2 }",
    tests: ["test/runtime/run-api/egress/resolve.test.ts"],
  },
  {
    defence: "an owner of a share takes turns with others",
    file: "src/foundation/contracts/fair-queue.ts",
    find: "      this.#owners.delete(owner);\n      if (waiters.size > 0) this.#owners.set(owner, waiters);",
    replace: "      if (waiters.size === 0) this.#owners.delete(owner);",
    tests: ["test/runtime/run-api/shares.test.ts", "test/features/spend/rate-limits.test.ts"],
  },
  {
    defence: "an owner of a share has no more than its part",
    file: "src/runtime/run-api/shares.ts",
    find: "if (wanted > perOwner) return false;",
    replace: "",
    tests: ["test/runtime/run-api/shares.test.ts"],
  },
  {
    defence: "a body of small values takes no more memory than its bytes",
    file: "src/runtime/run-api/model-gateway/body-reader.ts",
    find: "values > maxValues) {",
    replace: "values > Infinity) {",
    tests: ["test/faults/load/hostile-runs/hostile-runs.test.ts"],
  },
  {
    defence: "an upload that stands still is cut",
    file: "src/runtime/run-api/cut-if-silent.ts",
    find: "if (socket.bytesRead === seen) request.destroy();",
    replace: "",
    tests: ["test/runtime/run-api/model-gateway/refusals.test.ts"],
    only: "stands still",
  },
  {
    defence: "a request in chunks costs no time of the parser",
    file: "src/foundation/contracts/request-limit.ts",
    find: "(isRefused ??= refuse(this)) || isUpgrade",
    replace: "(isRefused ??= false) || isUpgrade",
    tests: ["test/runtime/run-api/refuse-chunked.test.ts"],
  },
  {
    defence: "a text that is not parsed is checked as it begins",
    file: "src/runtime/run-api/model-gateway/long-texts.ts",
    find: '${isData ? "" : ":"}',
    replace: "",
    tests: ["test/runtime/run-api/model-gateway/long-texts.test.ts"],
  },
  {
    defence: "the body of a request through the bridge is no second request",
    file: "src/runtime/harness/bridge/pass-request.ts",
    find: '? ["Transfer-Encoding", "chunked"] : []',
    replace: '? ["X-Was", "chunked"] : []',
    tests: ["test/runtime/harness/bridge/proxied-requests.test.ts"],
    only: "in chunks",
  },
];
