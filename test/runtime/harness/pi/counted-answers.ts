import type { Billed } from "./wires/wire-format.ts";

/** An answer's own count of its tokens, and what is billed of it. */
export interface Counted {
  readonly billed: Billed;
  /** Input, cache reads, cache writes, those for an hour among them, and output. */
  readonly tokens: readonly [number, number, number, number, number];
}

/** 200 of the 300 tokens that were written to the cache are kept for five minutes; the output has thinking in it. */
export const messages: Counted = {
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
};

const responseUsage = {
  input_tokens: 5000,
  input_tokens_details: { cached_tokens: 4096 },
  output_tokens: 321,
  output_tokens_details: { reasoning_tokens: 300 },
  total_tokens: 5321,
};
const responseTokens = [904, 4096, 0, 0, 321] as const;
export const responses: Counted = { billed: { usage: responseUsage }, tokens: responseTokens };
export const responsesIn = (tier: string): Counted => ({
  billed: { usage: responseUsage, tier },
  tokens: responseTokens,
});

export const completions: Counted = {
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
};

export const gemini: Counted = {
  billed: {
    usage: {
      promptTokenCount: 2000,
      cachedContentTokenCount: 1500,
      candidatesTokenCount: 10,
      thoughtsTokenCount: 90,
      totalTokenCount: 2100,
    },
  },
  tokens: [500, 1500, 0, 0, 100],
};

export const mistral: Counted = {
  billed: {
    usage: { prompt_tokens: 90, completion_tokens: 7, total_tokens: 97, num_cached_tokens: 64 },
  },
  tokens: [26, 64, 0, 0, 7],
};
