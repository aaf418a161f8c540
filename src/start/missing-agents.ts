import type { AgentChange, WorkItem } from "../../streams/vocabulary.ts";

/**
 * Agents that have work waiting from before a restart and no directory now. They begin as removed, so that their work
 * is held like that of an agent which is removed while the scheduler runs: a checkout may bring them back.
 */
export function missingAgents(
  waiting: readonly WorkItem[],
  present: ReadonlyMap<string, unknown>,
): readonly AgentChange[] {
  const names = new Set(waiting.map(({ agent }) => agent));
  return [...names]
    .filter((name) => !present.has(name))
    .map((name): AgentChange => ({ type: "removed", name }));
}
