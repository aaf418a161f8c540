import {
  completions,
  gemini,
  messages,
  mistral,
  responses,
  responsesIn,
} from "./counted-answers.ts";
import type { Counted } from "./counted-answers.ts";

/** What a provider says of an answer, and what that costs, worked out by hand. */
export interface CostRow extends Counted {
  readonly name: string;
  /** `[models.m]` without its address. */
  readonly config: string;
  readonly billing?: "priced" | "unpriced" | "subscription";
  /** Tokens times the nano-dollars of one: a dollar for a million is 1,000. */
  readonly nano: number;
}

const model = (provider: string, name: string, more = ""): string =>
  `provider = "${provider}"\nmodel = "${name}"\n${more}`;

const own = "price = { input = 0.3, output = 0.9, cacheRead = 0.03, cacheWrite = 0.4 }";

/** At the prices of the table. */
const listed: readonly CostRow[] = [
  {
    name: "anthropic, with both kinds of cache writes",
    config: model("anthropic", "claude-opus-4-5"),
    ...messages,
    nano: 12 * 5_000 + 4000 * 500 + 200 * 6_250 + 100 * 10_000 + 777 * 25_000,
  },
  {
    name: "anthropic, whose long prompts cost as others do",
    config: model("anthropic", "claude-sonnet-4-5"),
    billed: {
      usage: { input_tokens: 150_000, cache_read_input_tokens: 50_001, output_tokens: 10 },
    },
    tokens: [150_000, 50_001, 0, 0, 10],
    nano: 150_000 * 3_000 + 50_001 * 300 + 10 * 15_000,
  },
  {
    name: "openai",
    config: model("openai", "gpt-5.1"),
    ...responses,
    nano: 904 * 1_250 + 4096 * 125 + 321 * 10_000,
  },
  {
    name: "openai, flex",
    config: model("openai", "gpt-5.1"),
    ...responsesIn("flex"),
    nano: 904 * 625 + 4096 * 62.5 + 321 * 5_000,
  },
  {
    name: "openai, priority",
    config: model("openai", "gpt-5.5"),
    ...responsesIn("priority"),
    nano: 904 * 12_500 + 4096 * 1_250 + 321 * 75_000,
  },
  {
    name: "openai by chat completions",
    config: model("openai", "gpt-5.1", 'api = "openai-completions"'),
    ...completions,
    nano: 350 * 1_250 + 600 * 125 + 50 * 1_250 + 42 * 10_000,
  },
  {
    name: "google",
    config: model("google", "gemini-2.5-pro"),
    ...gemini,
    nano: 500 * 1_250 + 1500 * 125 + 100 * 10_000,
  },
  {
    name: "google, one token beyond a long prompt",
    config: model("google", "gemini-2.5-pro"),
    billed: {
      usage: { promptTokenCount: 200_001, candidatesTokenCount: 60, thoughtsTokenCount: 40 },
    },
    tokens: [200_001, 0, 0, 0, 100],
    nano: 200_001 * 2_500 + 100 * 15_000,
  },
  {
    name: "groq, whose cache costs what its input costs",
    config: model("groq", "llama-3.3-70b-versatile"),
    ...completions,
    nano: 1000 * 590 + 42 * 790,
  },
  {
    name: "xai, whose thinking is beside its output",
    config: model("xai", "grok-4.3"),
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
    name: "xai, one token beyond a long prompt",
    config: model("xai", "grok-4.5"),
    billed: { usage: { input_tokens: 200_001, output_tokens: 10, total_tokens: 200_011 } },
    tokens: [200_001, 0, 0, 0, 10],
    nano: 200_001 * 4_000 + 10 * 12_000,
  },
  {
    name: "mistral",
    config: model("mistral", "mistral-medium-latest"),
    ...mistral,
    nano: 26 * 1_500 + 64 * 150 + 7 * 7_500,
  },
  {
    name: "openrouter by messages",
    config: model("openrouter", "anthropic/claude-opus-5"),
    ...messages,
    nano: 12 * 5_000 + 4000 * 500 + 200 * 6_250 + 100 * 10_000 + 777 * 25_000,
  },
  {
    name: "openrouter by chat completions, at the cost that it reports",
    config: model("openrouter", "openai/gpt-5"),
    billed: { usage: { ...completions.billed.usage, cost: 0.0021 } },
    tokens: completions.tokens,
    nano: 2_100_000,
  },
  {
    name: "openrouter, one token beyond a long prompt",
    config: model("openrouter", "x-ai/grok-4.3"),
    billed: { usage: { prompt_tokens: 200_001, completion_tokens: 10, total_tokens: 200_011 } },
    tokens: [200_001, 0, 0, 0, 10],
    nano: 200_001 * 2_500 + 10 * 5_000,
  },
];

/** At a price of the config, or as it is paid. */
const configured: readonly CostRow[] = [
  {
    name: "a price of the config, over the table's",
    config: model("anthropic", "claude-opus-4-5", own),
    ...messages,
    nano: 12 * 300 + 4000 * 30 + 200 * 400 + 100 * 600 + 777 * 900,
  },
  {
    name: "a server of one's own with a price",
    config: model("custom", "local-1", own),
    ...completions,
    nano: 350 * 300 + 600 * 30 + 50 * 400 + 42 * 900,
  },
  {
    name: "a subscription, at what it would cost",
    config: model("anthropic", "claude-opus-4-5", 'authType = "oauth_token"'),
    ...messages,
    billing: "subscription",
    nano: 12 * 5_000 + 4000 * 500 + 200 * 6_250 + 100 * 10_000 + 777 * 25_000,
  },
];

/** Newer than the table: at the highest rates of any model of the provider, those of long prompts among them. */
const unpriced: readonly CostRow[] = [
  {
    name: "anthropic",
    config: model("anthropic", "claude-opus-9"),
    ...messages,
    nano: 12 * 10_000 + 4000 * 1_000 + 200 * 12_500 + 100 * 20_000 + 777 * 50_000,
  },
  {
    name: "openai",
    config: model("openai", "gpt-9"),
    ...responses,
    nano: 5000 * 150_000 + 321 * 600_000,
  },
  {
    name: "google",
    config: model("google", "gemini-9-pro"),
    ...gemini,
    nano: 500 * 4_000 + 1500 * 1_250 + 100 * 30_000,
  },
  {
    name: "groq",
    config: model("groq", "new/model"),
    ...completions,
    nano: 1000 * 800 + 42 * 4_000,
  },
  {
    name: "xai",
    config: model("xai", "grok-9"),
    ...responses,
    nano: 904 * 4_000 + 4096 * 1_000 + 321 * 12_000,
  },
  {
    name: "mistral",
    config: model("mistral", "mistral-next"),
    ...mistral,
    nano: 26 * 2_000 + 64 * 1_500 + 7 * 7_500,
  },
  {
    name: "openrouter",
    config: model("openrouter", "new/model"),
    ...completions,
    nano: 1000 * 30_000 + 42 * 180_000,
  },
  {
    name: "a server of one's own",
    config: model("custom", "local-1"),
    ...completions,
    nano: 350 * 3_000 + 600 * 300 + 50 * 3_750 + 42 * 15_000,
  },
].map((row) => ({ ...row, name: `${row.name}, a model without a price`, billing: "unpriced" }));

export const costTable: readonly CostRow[] = [...listed, ...configured, ...unpriced];
