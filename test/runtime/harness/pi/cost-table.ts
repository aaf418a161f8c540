import type { Billed } from "./wires/wire-format.ts";

/** A provider's own count of an answer's tokens, and its cost, worked out by hand. */
export interface CostRow {
  readonly name: string;
  /** `[models.m]` without its address. */
  readonly config: string;
  readonly billed: Billed;
  /** Input, cache reads, cache writes, those for an hour among them, and output. */
  readonly tokens: readonly [number, number, number, number, number];
  readonly billing?: "priced" | "unpriced" | "subscription";
  /** Tokens times the nano-dollars of one: a dollar for a million is 1,000. */
  readonly nano: number;
}

export const configOf = (provider: string, model: string, more = ""): string =>
  `provider = "${provider}"\nmodel = "${model}"\n${more}`;

/** 200 of the 300 tokens that were written to the cache are kept for five minutes; the output has thinking in it. */
const messages = {
  billed: {
    usage: {
      input_tokens: 12,
      cache_read_input_tokens: 4000,
      cache_creation_input_tokens: 300,
      cache_creation: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 100 },
      output_tokens: 777,
    },
  },
  tokens: [12, 4000, 300, 100, 777],
} as const;

const completions = {
  billed: {
    usage: {
      prompt_tokens: 1000,
      prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 50 },
      completion_tokens: 42,
      completion_tokens_details: { reasoning_tokens: 30 },
      total_tokens: 1042,
    },
  },
  tokens: [350, 600, 50, 0, 42],
} as const;

const price = "price = { input = 0.3, output = 0.9, cacheRead = 0.03, cacheWrite = 0.4 }";

export const costTable: readonly CostRow[] = [
  {
    name: "anthropic, with both kinds of cache writes",
    config: configOf("anthropic", "claude-opus-4-5"),
    ...messages,
    nano: 12 * 5_000 + 4000 * 500 + 200 * 6_250 + 100 * 10_000 + 777 * 25_000,
  },
  {
    name: "openai, flex",
    config: configOf("openai", "gpt-5.1"),
    billed: {
      usage: {
        input_tokens: 5000,
        input_tokens_details: { cached_tokens: 4096 },
        output_tokens: 321,
        output_tokens_details: { reasoning_tokens: 300 },
        total_tokens: 5321,
      },
      tier: "flex",
    },
    tokens: [904, 4096, 0, 0, 321],
    nano: 904 * 625 + 4096 * 62.5 + 321 * 5_000,
  },
  {
    name: "google, one token beyond a long prompt",
    config: configOf("google", "gemini-2.5-pro"),
    billed: {
      usage: { promptTokenCount: 200_001, candidatesTokenCount: 60, thoughtsTokenCount: 40 },
    },
    tokens: [200_001, 0, 0, 0, 100],
    nano: 200_001 * 2_500 + 100 * 15_000,
  },
  {
    name: "xai, whose thinking is beside its output",
    config: configOf("xai", "grok-4.3"),
    billed: {
      usage: {
        input_tokens: 1000,
        input_tokens_details: { cached_tokens: 600 },
        output_tokens: 42,
        output_tokens_details: { reasoning_tokens: 300 },
        total_tokens: 1342,
      },
    },
    tokens: [400, 600, 0, 0, 342],
    nano: 400 * 1_250 + 600 * 200 + 342 * 2_500,
  },
  {
    name: "mistral",
    config: configOf("mistral", "mistral-medium-latest"),
    billed: {
      usage: { prompt_tokens: 90, completion_tokens: 7, total_tokens: 97, num_cached_tokens: 64 },
    },
    tokens: [26, 64, 0, 0, 7],
    nano: 26 * 1_500 + 64 * 150 + 7 * 7_500,
  },
  {
    name: "openrouter, at the cost that it reports",
    config: configOf("openrouter", "openai/gpt-5"),
    billed: { usage: { ...completions.billed.usage, cost: 0.0021 } },
    tokens: completions.tokens,
    nano: 2_100_000,
  },
  {
    name: "a server of one's own, at the config's price",
    config: configOf("custom", "local-1", price),
    ...completions,
    nano: 350 * 300 + 600 * 30 + 50 * 400 + 42 * 900,
  },
  {
    name: "a subscription, at the price of its tokens",
    config: configOf("anthropic", "claude-opus-4-5", 'authType = "oauth_token"'),
    ...messages,
    billing: "subscription",
    nano: 12 * 5_000 + 4000 * 500 + 200 * 6_250 + 100 * 10_000 + 777 * 25_000,
  },
  {
    name: "a model newer than the price list, at the highest rates of its provider",
    config: configOf("groq", "new/model"),
    ...completions,
    billing: "unpriced",
    nano: 1000 * 800 + 42 * 4_000,
  },
];
