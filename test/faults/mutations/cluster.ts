import type { Mutation } from "../mutation.ts";

const claims = ["test/runtime/cluster/door/claim.test.ts"];
const remoteRun = ["test/runtime/cluster/remote-run/remote-run.test.ts"];
const runner = ["test/runtime/cluster/cluster-runner.test.ts"];

/** What keeps runs on other machines from running twice, and strangers from the door. */
export const cluster: readonly Mutation[] = [
  {
    defence: "a ticket is worth one claim",
    file: "src/foundation/store/remote-runs.ts",
    find: "AND (claim IS NULL OR claim = $claim)",
    replace: "",
    tests: claims,
  },
  {
    defence: "a ticket is for the claim alone",
    file: "src/runtime/run-api/app.ts",
    find: "isClaim ? ticketHash : tokenHash",
    replace: "ticketHash ?? tokenHash",
    tests: claims,
  },
  {
    defence: "a Job that has no ticket starts nothing",
    file: "src/runtime/cluster/kubernetes/run-manifests.ts",
    find: "suspend: true,",
    replace: "suspend: false,",
    tests: ["test/runtime/cluster/kubernetes/kubernetes-engine.test.ts"],
  },
  {
    defence: "a connection whose relay is gone is cut",
    file: "src/runtime/cluster/remote-run/pipe-channel.ts",
    find: "if (isDead) connection.destroy();",
    replace: "if (isDead) return;",
    tests: ["test/runtime/cluster/remote-run/dead-relay.test.ts"],
  },
  {
    defence: "a run talks to the door whose certificate it knows",
    file: "src/runtime/cluster/remote-run/dial-door.ts",
    find: "if (socket.getPeerX509Certificate()?.raw.equals(pinned) !== true) return fail(other(door));",
    replace: "void pinned; void other;",
    tests: remoteRun,
  },
  {
    defence: "a run ends itself before its lease is over",
    file: "src/runtime/cluster/remote-run/lease.ts",
    find: "if (leftMs <= 0) return resolve();",
    replace: "if (leftMs <= -1e9) return resolve();",
    tests: remoteRun,
  },
  {
    defence: "a run that is silent for its lease is lost",
    file: "streams/runs/lease.ts",
    find: "if (!this.#isLeased) this.#expireLater();",
    replace: "",
    tests: ["test/streams/runs/lease.test.ts"],
  },
  {
    defence: "lines are acknowledged once they are in the logs",
    file: "src/runtime/cluster/remote-process.ts",
    find: "if (!stored) throw",
    replace: "if (false) throw",
    tests: runner,
  },
  {
    defence: "a line counts once, however often it comes",
    file: "src/runtime/cluster/received-lines.ts",
    find: "if (taken > logged) emit(",
    replace: "if (true) emit(",
    tests: ["test/runtime/cluster/adoption.test.ts"],
  },
  {
    defence: "another scheduler gets the state that the one before had in its memory",
    file: "src/runtime/cluster/remote-run/send-lines.ts",
    find: "for (const text of state) {",
    replace: "for (const text of state.slice(0, 0)) {",
    tests: ["test/runtime/cluster/remote-run/faults.test.ts"],
  },
];
