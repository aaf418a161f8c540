import type { AgentConfig, NetworkConfig } from "./agent-config.ts";

/**
 * A run's access to the network. `closed`: only its bridge, or it does not start. `closed-if-possible`: the same, but
 * the machine's network if the kernel forbids that to a host user. `open`: that of the engine or the machine.
 */
export type RunNetwork = "closed" | "closed-if-possible" | "open";

export interface ProjectNetwork {
  readonly local: { readonly network: string };
  readonly network: NetworkConfig | null;
}

/** From the active config: `[local].network`, first the agent's, then the project's, then whether one of them has `[network]`. */
export function networkOf(agent: AgentConfig, project: ProjectNetwork): RunNetwork {
  if ((agent.local.network ?? project.local.network) !== "none") return "open";
  // Even an empty table counts: its author wants a closed network.
  return agent.network !== null || project.network !== null ? "closed" : "closed-if-possible";
}
