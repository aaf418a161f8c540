import type { AgentConfig } from "../../streams/vocabulary.ts";

/** What decides whether the gateway listens on TCP; its Unix socket is always there. */
export interface GatewayNeeds {
  readonly webUi: boolean;
  readonly webhookSources: number;
  readonly agents: Iterable<Pick<AgentConfig, "runtime" | "scale">>;
}

/** True with the dashboard, with webhooks, or when an enabled agent runs in a container. */
export function needsGateway({ webUi, webhookSources, agents }: GatewayNeeds): boolean {
  if (webUi || webhookSources > 0) return true;
  for (const { runtime, scale } of agents) {
    if (runtime.type === "container" && scale > 0) return true;
  }
  return false;
}
