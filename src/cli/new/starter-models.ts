import type { Provider } from "../../../streams/agent-config.ts";

/** A model that a new project begins with. */
export interface StarterModel {
  /** Its name in the project. */
  readonly name: string;
  readonly provider: Provider;
  /** As the provider calls it. */
  readonly model: string;
  readonly baseUrl: string | null;
}

/** What is proposed for a provider; what is newer is one line away. */
const usual: Readonly<Record<Exclude<Provider, "scripted" | "custom">, [string, string]>> = {
  anthropic: ["claude", "claude-sonnet-4-5"],
  openai: ["gpt", "gpt-5"],
  google: ["gemini", "gemini-flash-latest"],
  groq: ["groq", "openai/gpt-oss-120b"],
  xai: ["grok", "grok-4.5"],
  mistral: ["mistral", "mistral-large-latest"],
  openrouter: ["openrouter", "anthropic/claude-sonnet-4.5"],
};

/** The model that stands ready beside the scripted one, if the person names none. */
export function usualModel(provider: Provider): StarterModel {
  const known = Object.hasOwn(usual, provider) ? usual[provider as keyof typeof usual] : undefined;
  const [name, model] = known ?? [provider, ""];
  return { name, provider, model, baseUrl: null };
}
