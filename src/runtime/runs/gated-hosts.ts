import type { SchedulerContext } from "../../foundation/context.ts";
import type { AskingRun } from "../run-api/egress/admit.ts";
import type { Authority } from "../run-api/egress/decide.ts";
import type { Gates } from "./gates.ts";
import type { LiveRuns } from "./live-runs.ts";
import { recordAttempts } from "./record-attempts.ts";

/** Records the hosts that runs request, and asks people about those that gates hold. */
export function gatedHosts({ store, redactor }: SchedulerContext, runs: LiveRuns, gates: Gates) {
  return {
    onAttempt: recordAttempts(runs.find, store.hosts, redactor.redact),
    isHeld: (asked: Authority, instanceId: string): boolean => {
      const run = runs.find(instanceId);
      return run !== undefined && gates.isHeld(run, asked);
    },
    approve: (asked: Authority, { instanceId, signal }: AskingRun) =>
      gates.host(runs.get(instanceId), asked, signal),
  };
}
