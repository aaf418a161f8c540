import { needsImage } from "../../streams/agent-config.ts";
import type { AgentRecord } from "../../streams/status/agent-record.ts";

/** What decides whether the gateway listens on TCP; its Unix socket is always there. */
export interface GatewayNeeds {
  readonly webUi: boolean;
  readonly webhookSources: number;
  readonly agents: Iterable<Pick<AgentRecord, "config" | "enabled">>;
}

/** True with the dashboard, with webhooks, or when an enabled agent runs in a container. */
export function needsGateway({ webUi, webhookSources, agents }: GatewayNeeds): boolean {
  if (webUi || webhookSources > 0) return true;
  for (const { config, enabled } of agents) {
    if (enabled && config !== null && needsImage(config)) return true;
  }
  return false;
}
