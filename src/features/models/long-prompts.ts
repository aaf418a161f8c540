import type { Rates } from "../../../streams/agent-config.ts";
import type { Price } from "../../foundation/contracts/price.ts";

/** How much more a request costs whose input exceeds a number of tokens. */
interface LongPrompts {
  readonly inputTokensAbove: number;
  readonly input: number;
  readonly output: number;
}

const geminiPro: LongPrompts = { inputTokensAbove: 200_000, input: 2, output: 1.5 };
const grok: LongPrompts = { inputTokensAbove: 200_000, input: 2, output: 2 };

/**
 * Models whose long requests cost more, and whose row in pi's table (0.87.1) does not say so; it has the tiers of OpenAI
 * and xAI. Sources: the catalogue of models.dev of 2026-07-02 for each row, and for Gemini guides of March 2026 that quote
 * "Gemini Developer API pricing" of ai.google.dev: $2.50 and $15 in place of $1.25 and $10 for 2.5 Pro, $4 and $18 in
 * place of $2 and $12 for 3.1 Pro, cache reads doubled. No model of Anthropic is here: Sonnet 4.5 takes no more than
 * 200,000 tokens since 2026-04-30 ("Claude Sonnet 4.5" on platform.claude.com, which says 200K), and those with a window of
 * a million cost the same at any length.
 */
const longPrompts: ReadonlyMap<string, LongPrompts> = new Map([
  ["google/gemini-2.5-pro", geminiPro],
  ["google/gemini-3.1-pro-preview", geminiPro],
  ["google/gemini-3.1-pro-preview-customtools", geminiPro],
  ["openrouter/google/gemini-3.1-pro-preview", geminiPro],
  ["openrouter/google/gemini-3.1-pro-preview-customtools", geminiPro],
  ["openrouter/x-ai/grok-4.3", grok],
]);

/** The price with the tier that the table lacks. One that it has stays. */
export function withLongPrompts(provider: string, model: string, price: Price): Price {
  const long = longPrompts.get(`${provider}/${model}`);
  if (long === undefined || (price.tiers ?? []).length > 0) return price;
  const tier: Rates = {
    input: price.input * long.input,
    output: price.output * long.output,
    cacheRead: price.cacheRead * long.input,
    cacheWrite: price.cacheWrite * long.input,
  };
  return { ...price, tiers: [{ ...tier, inputTokensAbove: long.inputTokensAbove }] };
}
