import { stringify } from "smol-toml";
import { schemaLine } from "../schema-files.ts";

/** Where an agent comes from, and the model that it begins with. */
export interface AgentOrigin {
  readonly source: string;
  /** In hex. */
  readonly commit: string;
  readonly model: string;
}

/**
 * The `config.toml` of an agent that was just added: valid, and disabled until the person chooses what starts it. What a
 * stranger wrote gets a container, and no credential.
 */
export function agentConfigText({ source, commit, model }: AgentOrigin): string {
  return `${schemaLine("agent", "../../")}

# Where al update finds what is new, and what it was when it was taken.
${stringify({ source, sourceCommit: commit }).trim()}

${stringify({ models: [model], credentials: [] }).trim()}

# Disabled, because nothing would start it: add schedule = "0 9 * * *", [[webhooks]] or callable = true (other agents
# call it, or people start it), and take this out.
scale = 0

[runtime]
type = "container"
`;
}
