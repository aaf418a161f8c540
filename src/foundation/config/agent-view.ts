import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { AgentFact } from "../contracts/agent-detail.ts";
import { agentKeys } from "./agent-keys.ts";
import type { AgentKey } from "./config-key.ts";
import { valueSchema } from "./key-table.ts";

/** An agent's config in use, as the API describes it. */
export const agentConfigSchema = valueSchema<AgentConfig>(agentKeys).meta({ id: "AgentConfig" });

/** An agent's config in use as lines for people; keys that are not set have none. */
export function agentFacts(config: AgentConfig, scheduleText: string | null): readonly AgentFact[] {
  return (Object.keys(agentKeys) as (keyof AgentConfig)[]).flatMap((name) => {
    const key: AgentKey<unknown> = agentKeys[name];
    return key.facts?.(config[name], { config, scheduleText }) ?? [];
  });
}
