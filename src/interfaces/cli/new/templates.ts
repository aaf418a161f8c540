import { stringify } from "smol-toml";
import { schemaLine } from "../../../runtime/agents/editor-schemas.ts";
import type { Provider } from "../../../../streams/agent-config.ts";

/** The choices for a new project. */
export interface NewProject {
  readonly agent: string;
  readonly schedule: string;
  /** The real model; the agent uses it from the start only if `isReal`. */
  readonly model: StarterModel;
  readonly isReal: boolean;
}

/** The files of a new project by their path in it. */
export function projectFiles(project: NewProject): ReadonlyMap<string, string> {
  const { agent } = project;
  return new Map([
    [".gitignore", gitignore],
    ["config.toml", projectConfig(project)],
    ...(project.isReal ? [] : ([[`${agent}.script.toml`, script]] as const)),
    [`agents/${agent}/SKILL.md`, skill(agent)],
    [`agents/${agent}/config.toml`, agentConfig(project)],
  ]);
}

/** Paths of a project that are not for version control. */
const gitignore = `# State, logs and caches of the scheduler.
.al/
`;

function projectConfig({ agent, model, isReal }: NewProject): string {
  const { name, provider, baseUrl, isKeyless } = model;
  const address = baseUrl === null ? {} : { baseUrl };
  const auth = isKeyless ? { authType: "none", contextWindow: 32_768 } : {};
  const real = { provider, model: model.model, ...address, ...auth };
  const scripted = `# This model replays a file instead of calling an LLM: no key, no network, no cost.
[models.scripted]
provider = "scripted"
script = "${agent}.script.toml"

`;
  return `${schemaLine("project", "")}

${isReal ? "" : scripted}${isKeyless ? "# A model of your own server. Set contextWindow to the one that the server was started with." : `# ${isReal ? "The model of your agents" : "A real model"}. Store its key with: al creds add ${provider}_key`}
${stringify({ models: { [name]: real } }).trim()}

[gateway]
port = 8080
`;
}

function agentConfig({ schedule, model, isReal }: NewProject): string {
  const scripted = `models = ["scripted"] # with a key: ["${model.name}"]`;
  const real = `models = ["${model.name}"]`;
  return `${schemaLine("agent", "../../")}

${isReal ? real : scripted}
credentials = []
schedule = ${JSON.stringify(schedule)}
timeout = 120

# A process of your own OS user. Leave this table out to run in a container.
[runtime]
type = "host-user"
run_as = "$USER"
`;
}

function skill(agent: string): string {
  return `---
name: ${titleOf(agent)}
description: Says hello and tells the time
---

You greet the people who watch. Tell them the time: run \`date\` to find out. Report what you are doing with al_status.
Be brief.
`;
}

/** `issue-triage` as `Issue triage`. */
export function titleOf(agent: string): string {
  const words = agent.replaceAll("-", " ").trim();
  return JSON.stringify(words.charAt(0).toUpperCase() + words.slice(1));
}

const script = `# The texts of the scripted model and the tools that it calls, turn by turn. The tools really run.

[[turns]]
text = "Good to see you. Let me look at the clock."
[[turns.tools]]
name = "al_status"
arguments = { text = "looking at the clock" }
[[turns.tools]]
name = "bash"
arguments = { command = "date" }

[[turns]]
text = "Now a moment of thought, so that you can watch it."
delayMs = 2000
[[turns.tools]]
name = "al_status"
arguments = { text = "said hello" }

[[turns]]
text = "Hello from your first agent. See you next time."
`;

/** A model that a new project begins with. */
export interface StarterModel {
  /** The model's name in the project. */
  readonly name: string;
  readonly provider: Provider;
  /** The provider's name of the model. */
  readonly model: string;
  readonly baseUrl: string | null;
  readonly isKeyless: boolean;
}

/** The proposed model of a provider; changing it takes one line. */
const usual: Readonly<Record<Exclude<Provider, "scripted" | "custom">, [string, string]>> = {
  anthropic: ["claude", "claude-sonnet-4-5"],
  openai: ["gpt", "gpt-5"],
  google: ["gemini", "gemini-flash-latest"],
  groq: ["groq", "openai/gpt-oss-120b"],
  xai: ["grok", "grok-4.5"],
  mistral: ["mistral", "mistral-large-latest"],
  openrouter: ["openrouter", "anthropic/claude-sonnet-4.5"],
};

/** The model prepared beside the scripted one, if the person names none. */
export function usualModel(provider: Provider): StarterModel {
  const known = Object.hasOwn(usual, provider) ? usual[provider as keyof typeof usual] : undefined;
  const [name, model] = known ?? [provider, ""];
  return { name, provider, model, baseUrl: null, isKeyless: false };
}
