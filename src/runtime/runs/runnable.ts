import { Problem } from "../../foundation/errors.ts";
import type { Inputs } from "../../foundation/scheduler/inputs.ts";
import type { OverBudget } from "../../../streams/agent-graph.ts";
import { knownAgent } from "../../foundation/scheduler/known-agent.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import type { FindAgent } from "../../foundation/scheduler/status-store.ts";
import type { Stopping } from "../../foundation/scheduler/stopping.ts";

/** The state that decides whether an agent can take work. */
export interface RunnableDeps {
  readonly status: FindAgent;
  readonly stopping: { readonly phase: Stopping["phase"] };
  /** The used-up budget that would stop a run started now at its first model call; absent without budgets. */
  readonly overBudget?: (agent: string) => OverBudget | null;
}

export interface StartableDeps extends RunnableDeps {
  readonly inputs: Inputs;
}

/** Throws Problem `draining` once the scheduler stops: it then accepts no work whose sender waits for it. */
export function mustTakeWork({ stopping }: RunnableDeps): void {
  if (stopping.phase() !== "draining") return;
  throw new Problem("draining", "the scheduler is stopping");
}

/** Throws the Problem with the reason why an agent can't run now. */
export function mustBeRunnable(deps: RunnableDeps, name: string): void {
  const { config, enabled, removed, configError } = knownAgent(deps.status, name);
  if (removed) throw new Problem("unknown_agent", `agent "${name}" was removed`);
  mustTakeWork(deps);
  if (config === null) {
    throw new Problem("invalid_config", configError ?? "its config is invalid");
  }
  if (enabled && config.scale > 0) return mustHaveMoney(deps, name);
  const how =
    config.scale === 0
      ? "by scale = 0 in its config.toml; set scale there to enable it"
      : `(al resume ${name} enables it)`;
  throw new Problem("disabled", `agent "${name}" is disabled ${how}`);
}

/** As mustBeRunnable, for work that a person starts: it is rejected with `paused` rather than left to wait. */
export function mustBeStartable(deps: StartableDeps, name: string): void {
  mustBeRunnable(deps, name);
  if (deps.inputs.workPausedAfter$.value === null) return;
  const message = "All new work is paused, so no run was started. Resume it with al resume.";
  throw new Problem("paused", message);
}

/** Work of an agent that waits for money waits with the agent. */
function mustHaveMoney({ overBudget }: RunnableDeps, name: string): void {
  const over = overBudget?.(name) ?? null;
  if (over?.onLimit === "stop") throw new Problem("refused", over.reason);
}

type Refused = Extract<RunEvent, { type: "refused" }>;

/**
 * Why work that was committed for a person did not start: the agent's current problem, else a failed claim in the
 * store (`rejected`), else the reason of the refusal.
 */
export function refusalOf(
  { agent, outcome, reason }: Pick<Refused, "agent" | "outcome" | "reason">,
  deps: RunnableDeps,
): Problem {
  try {
    mustBeRunnable(deps, agent);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  const code = outcome === "rejected" ? "store_unavailable" : "refused";
  return new Problem(code, reason);
}
