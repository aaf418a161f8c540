import type { AgentConfig } from "./agent-config.ts";

/**
 * What a run has of the network. `closed`: nothing but its bridge, or it does not start. `closed-if-possible`: the same,
 * but where the kernel of a host user forbids it, the machine's network. `open`: that of the engine or the machine.
 */
export type RunNetwork = "closed" | "closed-if-possible" | "open";

interface NetworkTable {
  readonly allow: readonly string[];
  readonly ask: boolean;
}
/** `network` is null without a table `[network]`. */
type AgentNetwork = Pick<AgentConfig, "local"> & { readonly network?: NetworkTable | null };
interface ProjectNetwork {
  readonly local: { readonly network: string };
  readonly network?: NetworkTable;
}

/** By the active config: `[local].network`, the agent's before the project's, then `[network]` of both. */
export function networkOf(agent: AgentNetwork, project: ProjectNetwork): RunNetwork {
  if ((agent.local.network ?? project.local.network) !== "none") return "open";
  // An agent's table counts even when it allows nothing: its author wants it to hold.
  const ofAgent = agent.network !== undefined && agent.network !== null;
  const { allow = [], ask = false } = project.network ?? {};
  return ofAgent || ask || allow.length > 0 ? "closed" : "closed-if-possible";
}
