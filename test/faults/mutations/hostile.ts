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
];
