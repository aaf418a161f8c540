import type { Mutation } from "../mutation.ts";

/** A run that wants a secret at another place than its host's door. */
const tests = ["test/run-api/egress/broker/hostile.test.ts"];

export const hostile: readonly Mutation[] = [
  {
    defence: "secrets are in no header that a host may show to others",
    file: "src/run-api/egress/broker/substitute.ts",
    find: "if (!isForSecrets(name)) return",
    replace: "if (!isForSecrets(name) && name === host) return",
    tests,
  },
  {
    defence: "a host that never answers keeps no socket of a tunnel that closed",
    file: "src/run-api/egress/broker/upstream.ts",
    find: "    this.#over.abort();",
    replace: "    if (this.#over.signal.aborted) this.#over.abort();",
    tests,
  },
  {
    defence: "an answer in a transfer coding that can't be read is not passed on",
    file: "src/run-api/egress/broker/pass-answer.ts",
    find: 'coding.toLowerCase() === "chunked"',
    replace: 'coding !== ""',
    tests: ["test/run-api/egress/broker/pass-answer.test.ts"],
  },
  {
    defence: "lookups of names that nothing waits for any more are not made",
    file: "src/run-api/egress/resolve.ts",
    find: "AbortSignal.timeout(waitMs)",
    replace: "AbortSignal.timeout(2 ** 30 + waitMs)",
    tests: ["test/run-api/egress/resolve.test.ts"],
  },
  {
    defence: "the body of a request through the bridge is no second request",
    file: "src/harness/bridge/pass-request.ts",
    find: '? ["Transfer-Encoding", "chunked"] : []',
    replace: '? ["X-Was", "chunked"] : []',
    tests: ["test/harness/bridge/proxied-requests.test.ts"],
    only: "in chunks",
  },
];
