/** The commands that an agent's shell has, beside the tools of its harness. */
export const agentCommands = [
  "al-status",
  "al-return",
  "al-rerun",
  "al-exit",
  "rlock",
  "runlock",
  "rlock-heartbeat",
  "al-subagent",
  "al-subagent-check",
  "al-subagent-wait",
  "wait_for_trigger",
] as const;
export type AgentCommand = (typeof agentCommands)[number];
