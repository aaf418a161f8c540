import { scan, type OperatorFunction } from "rxjs";
import type { AgentConfig } from "../agent-config.ts";
import type { AgentChange } from "../vocabulary.ts";

/** The active config of an agent, and the change that activated it. */
export interface ActiveConfig {
  readonly change: AgentChange;
  /** Whether the agent's directory exists. */
  readonly present: boolean;
  /** The last good config; null until there was one. */
  readonly config: AgentConfig | null;
  /** The active config before this change; null if the agent did not exist. */
  readonly before: AgentConfig | null;
  /** Whether the files were invalid before this change. */
  readonly wasInvalid: boolean;
}

/**
 * Folds an agent's changes: an invalid one leaves the last good config active. A removed agent keeps its config for
 * the work that it still has; one that comes back broken gets no config.
 *
 *     changes:  ─s1─i──s2─r──i──     s set, i invalid, r removed
 *     config:   ─1──1──2──2──────
 */
export function activeConfig(): OperatorFunction<AgentChange, ActiveConfig> {
  return (change$) =>
    change$.pipe(
      scan<AgentChange, ActiveConfig, null>((last, change) => {
        const before = last === null || last.change.type === "removed" ? null : last.config;
        const config = change.type === "set" ? change.agent : before;
        const present = change.type !== "removed";
        return { change, present, config, before, wasInvalid: last?.change.type === "invalid" };
      }, null),
    );
}
