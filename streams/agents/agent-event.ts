import { whileLastGoodCounts } from "../problem-text.ts";
import type { AgentConfig } from "../agent-config.ts";
import type { RunEvent } from "../vocabulary.ts";
import { changedAgent } from "./each-agent.ts";
import type { ActiveConfig } from "./active-config.ts";

/** A change of an agent as the event that status, log and history read. `at` is epoch ms. */
export function agentEvent(
  { change, before, config, wasInvalid }: ActiveConfig,
  at: number,
  describeChange: (before: AgentConfig, after: AgentConfig) => string,
): RunEvent {
  const agent = changedAgent(change);
  if (change.type === "removed") return { type: "agent-removed", agent, at };
  if (change.type === "invalid") {
    const { problems, sources } = change;
    const shown = config === null ? problems : whileLastGoodCounts(problems);
    return { type: "agent-invalid", agent, at, problems: shown, sources };
  }
  // A change with an unchanged config is about its problems: they are fixed, or warnings differ.
  const unchanged = wasInvalid ? "valid again" : "warnings changed";
  const summary = before === null ? "loaded" : describeChange(before, change.agent) || unchanged;
  return { type: "agent-set", agent, at, config: change.agent, warnings: change.warnings, summary };
}
