import type { AgentConfig } from "../../streams/agent-config.ts";

const mask = "***";

/** The config for a person to look at: headers of models may hold secrets, so only their names are shown. */
export function maskHeaders(config: AgentConfig): AgentConfig {
  const models = config.models.map((model) => {
    const names = Object.keys(model.headers);
    return { ...model, headers: Object.fromEntries(names.map((name) => [name, mask])) };
  });
  return { ...config, models };
}
