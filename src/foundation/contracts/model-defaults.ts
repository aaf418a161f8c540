import { harnesses } from "../../../streams/harnesses.ts";
import type { AgentConfig, ModelConfig } from "../../../streams/agent-config.ts";
import type { ModelApi, Provider } from "../../../streams/agent-config.ts";

/** What is assumed of a model that is not in the list of known ones. */
export interface ModelDefaults {
  readonly api: ModelApi;
  /** Tokens of a request and its answer together. */
  readonly contextWindow: number;
  /** Tokens of an answer, for the one API that wants a limit with each request (anthropic-messages). */
  readonly maxTokens: number;
  readonly takesImages: boolean;
  /**
   * How the model is asked to think: not at all, by a budget of tokens (Anthropic's older models), by a level, or by
   * a level only if the config sets one, because the provider's other models refuse it.
   */
  readonly thinking: "none" | "budget" | "level" | "level-if-set";
}

interface Row extends ModelDefaults {
  /** Names of the older models that the row is for; null for all others. */
  readonly names: RegExp | null;
}

const anthropic = {
  api: "anthropic-messages",
  contextWindow: 200_000,
  takesImages: true,
} as const;
const openai = { api: "openai-responses", maxTokens: 32_000, takesImages: true } as const;
const google = { api: "google-generative-ai", maxTokens: 32_000, takesImages: true } as const;
const xai = { api: "openai-responses", maxTokens: 32_000 } as const;
const textOnly = {
  contextWindow: 131_072,
  maxTokens: 32_000,
  takesImages: false,
  names: null,
} as const;

/** The first row that fits counts. Windows are the smallest of the provider's current models. */
const defaults: Readonly<Record<Exclude<Provider, "scripted">, readonly Row[]>> = {
  anthropic: [
    { ...anthropic, names: /^claude-(2|3-(haiku|opus|sonnet))/, maxTokens: 4096, thinking: "none" },
    { ...anthropic, names: /^claude-3-5-/, maxTokens: 8192, thinking: "none" },
    { ...anthropic, names: /^claude-3-7-/, maxTokens: 64_000, thinking: "budget" },
    {
      ...anthropic,
      names: /^claude-opus-4(-[01])?(-\d{8})?$/,
      maxTokens: 32_000,
      thinking: "budget",
    },
    {
      ...anthropic,
      names: /^claude-[a-z]+-4(-[0-5])?(-\d{8})?$/,
      maxTokens: 64_000,
      thinking: "budget",
    },
    { ...anthropic, names: null, maxTokens: 64_000, thinking: "level" },
  ],
  openai: [
    { ...openai, names: /^(gpt-[34]|chatgpt-)|-chat\b/, contextWindow: 128_000, thinking: "none" },
    { ...openai, names: null, contextWindow: 272_000, thinking: "level" },
  ],
  google: [
    { ...google, names: /^(gemini-(1|2\.0)|gemma)/, contextWindow: 131_072, thinking: "none" },
    { ...google, names: null, contextWindow: 1_048_576, thinking: "level" },
  ],
  groq: [{ ...textOnly, api: "openai-completions", thinking: "level-if-set" }],
  xai: [
    {
      ...xai,
      names: /^grok-(2|3|4(-|$)|code)/,
      contextWindow: 131_072,
      takesImages: false,
      thinking: "none",
    },
    { ...xai, names: null, contextWindow: 500_000, takesImages: true, thinking: "level" },
  ],
  mistral: [{ ...textOnly, api: "mistral-conversations", thinking: "level-if-set" }],
  openrouter: [{ ...textOnly, api: "openai-completions", thinking: "level" }],
  custom: [{ ...textOnly, api: "openai-completions", thinking: "level-if-set" }],
};

/** What is assumed of a model with this name. */
export function modelDefaults(provider: Provider, name: string): ModelDefaults {
  const rows = defaults[provider === "scripted" ? "custom" : provider];
  const row = rows.find(({ names }) => names === null || names.test(name));
  if (row === undefined) throw new Error(`there are no defaults for models of ${provider}`);
  return row;
}

/** The models that runs may use; an external CLI uses the primary only, also while that one is left out elsewhere. */
export function modelsOfRuns({ models, harness }: AgentConfig): readonly ModelConfig[] {
  return harnesses[harness.type].callsModels ? models : models.slice(0, 1);
}
