import type { AgentConfig, NetworkConfig } from "./agent-config.ts";

/**
 * A run's access to the network. `closed`: nothing but its bridge, or it does not start. `closed-if-possible`: the same,
 * but where the kernel of a host user forbids it, the machine's network. `open`: that of the engine or the machine.
 */
export type RunNetwork = "closed" | "closed-if-possible" | "open";

type AgentNetwork = Pick<AgentConfig, "local" | "network">;
export interface ProjectNetwork {
  readonly local: { readonly network: string };
  readonly network: NetworkConfig | null;
}

/** By the active config: `[local].network`, the agent's before the project's, then whether one of them has `[network]`. */
export function networkOf(agent: AgentNetwork, project: ProjectNetwork): RunNetwork {
  if ((agent.local.network ?? project.local.network) !== "none") return "open";
  // A table counts also when it allows nothing: its author wants it to hold.
  return agent.network !== null || project.network !== null ? "closed" : "closed-if-possible";
}
