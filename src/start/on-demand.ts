import type { AdoptedRun } from "../../streams/runs/adopted-runs.ts";
import type { AgentChange } from "../../streams/vocabulary.ts";
import { UserError } from "../errors.ts";

/** The change without what starts an agent by itself: it runs when a person or another agent asks. */
export function withoutTriggers(change: AgentChange): AgentChange {
  if (change.type !== "set") return change;
  return { ...change, agent: { ...change.agent, schedule: null, webhooks: [] } };
}

/** Whoever stays for one run only can't go on with those of a scheduler that died; throws a UserError then. */
export function refuseAdopted(adopted: readonly AdoptedRun[]): void {
  if (adopted.length === 0) return;
  const names = adopted.map(({ request }) => request.instanceId).join(", ");
  throw new UserError("runs_left", `runs of a scheduler that died go on: ${names}`, {
    hint: "al start takes them over",
  });
}
