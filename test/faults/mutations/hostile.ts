import type { Mutation } from "../mutation.ts";

/** A run that wants a secret at another place than its host's door. */
const tests = ["test/run-api/egress/broker/hostile.test.ts"];

export const hostile: readonly Mutation[] = [
  {
    defence: "a host that a secret goes to gets one Host, its own",
    file: "src/run-api/egress/broker/request-head.ts",
    find: 'const replaced = ["host", "accept-encoding"];',
    replace: 'const replaced = ["accept-encoding"];',
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
