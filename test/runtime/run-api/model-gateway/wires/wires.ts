import { anthropic } from "./anthropic.ts";
import { google, mistral } from "./mistral-and-google.ts";
import { completions, responses } from "./openai.ts";
import type { Wire } from "./wire.ts";

/** OpenRouter has two formats, by model. */
export const wires: readonly Wire[] = [
  anthropic,
  responses,
  completions,
  mistral,
  google,
  {
    ...anthropic,
    title: "openrouter, anthropic-messages",
    model: { provider: "openrouter", api: "anthropic-messages" },
    basePath: "/api",
  },
  {
    ...completions,
    title: "openrouter, openai-completions",
    model: { provider: "openrouter", api: "openai-completions" },
    basePath: "/api/v1",
  },
];
