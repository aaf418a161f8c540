import type { RunEvent } from "../../streams/vocabulary.ts";
import { OperationError } from "../contracts/operations.ts";
import { mustBeRunnable } from "./runnable.ts";
import type { RunnableDeps } from "./runnable.ts";

type Refused = Extract<RunEvent, { type: "refused" }>;

/**
 * Why work that was committed for a person did not start: what became of the agent meanwhile; otherwise, where the
 * run could not be claimed, the store.
 */
export function refusalOf(
  { agent, outcome, reason }: Pick<Refused, "agent" | "outcome" | "reason">,
  deps: RunnableDeps,
): OperationError {
  try {
    mustBeRunnable(deps, agent);
  } catch (error) {
    if (error instanceof OperationError) return error;
    throw error;
  }
  const code = outcome === "rejected" ? "store_unavailable" : "refused";
  return new OperationError(code, reason);
}
