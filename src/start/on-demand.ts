import type { AdoptedRun } from "../../streams/runs/adopted-runs.ts";
import type { AgentChange } from "../../streams/vocabulary.ts";
import { UserError } from "../errors.ts";

/** The change without schedule and webhooks: the agent is callable only, by a person or another agent. */
export function withoutTriggers(change: AgentChange): AgentChange {
  if (change.type !== "set") return change;
  const agent = { ...change.agent, schedule: null, webhooks: [], callable: true };
  return { ...change, agent };
}

/** Whoever stays for one run only can't go on with those of a scheduler that died; throws a UserError then. */
export function refuseAdopted(adopted: readonly AdoptedRun[]): void {
  if (adopted.length === 0) return;
  const names = adopted.map(({ request }) => request.instanceId).join(", ");
  throw new UserError("runs_left", `runs of a scheduler that died go on: ${names}`, {
    hint: "al start takes them over",
  });
}
