import type { CallUsage } from "../../../../foundation/contracts/model-gateway.ts";
import {
  at,
  countAt,
  isObject,
  listAt,
  objectAt,
  textAt,
  bytesOf,
  numberAt,
} from "../../../wire/json.ts";
import { tokensAt } from "../request-body.ts";
import type { Json } from "../../../wire/json.ts";
import type { EventReading, OutputLimit } from "../wire-api.ts";

/**
 * Chat completions of OpenAI, Mistral and all that speak like them: `usage` in the last chunk or in the one document.
 * Some servers report the usage so far with each chunk. Source: OpenAI's "Chat Completions" reference, Mistral's "Chat
 * Completion".
 */
export function readChatEvent(event: unknown): EventReading {
  const choices = listAt(event, "choices");
  // Groq and Moonshot also report the usage in other places.
  const places = [at(event, "usage"), at(event, "x_groq", "usage"), at(choices[0], "usage")];
  return {
    usage: places.find(isObject),
    isLast: choices.some((choice) => textAt(choice, "finish_reason") !== null),
    bytes: choices.reduce<number>((sum, one) => sum + deltaBytes(objectAt(one, "delta")), 0),
    serviceTier: textAt(event, "service_tier"),
  };
}

function deltaBytes(delta: Json): number {
  const { content, reasoning_content, reasoning, refusal } = delta;
  const calls = listAt(delta, "tool_calls").map((call) => at(call, "function", "arguments"));
  return bytesOf(content, reasoning_content ?? reasoning, refusal, ...calls);
}

/**
 * `prompt_tokens` includes the cache, whose field differs: OpenAI and OpenRouter `prompt_tokens_details`, DeepSeek
 * `prompt_cache_hit_tokens`, Moonshot `cached_tokens`, Mistral all of the spellings below. Servers that leave thinking
 * out of `completion_tokens` (xAI, Google) have it in `total_tokens`.
 */
export function chatUsage(usage: Json): CallUsage {
  const prompt = countAt(usage, "prompt_tokens") ?? 0;
  const completion = countAt(usage, "completion_tokens") ?? 0;
  const cacheRead = Math.min(prompt, cachedOf(usage));
  const written = countAt(usage, "prompt_tokens_details", "cache_write_tokens") ?? 0;
  const cacheWrite = Math.min(prompt - cacheRead, written);
  return {
    input: prompt - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite,
    cacheWrite1h: 0,
    output: Math.max(completion, (countAt(usage, "total_tokens") ?? 0) - prompt),
  };
}

function cachedOf(usage: Json): number {
  const places = [
    countAt(usage, "prompt_tokens_details", "cached_tokens"),
    countAt(usage, "prompt_token_details", "cached_tokens"),
    countAt(usage, "prompt_cache_hit_tokens"),
    countAt(usage, "cached_tokens"),
    countAt(usage, "num_cached_tokens"),
  ];
  return places.find((tokens) => tokens !== null) ?? 0;
}

const fields = ["max_completion_tokens", "max_tokens"] as const;

/** The limit of chat completions has an old and a new name; `fieldFor` selects one if the request has neither. */
export function chatLimit(
  fieldFor: (...model: Parameters<OutputLimit["write"]>) => (typeof fields)[number],
): OutputLimit {
  return {
    read: (body) => {
      const limits = fields.map((one) => tokensAt(body, 1, one)).filter((limit) => limit !== null);
      return limits.length === 0 ? null : Math.min(...limits);
    },
    thinkingBudget: () => 0,
    write: (body, tokens, model) => {
      const given = fields.filter((field) => numberAt(body, field) !== null);
      const set = given.length > 0 ? given : [fieldFor(body, tokens, model)];
      return set.reduce<Json>((limited, field) => ({ ...limited, [field]: tokens }), body);
    },
  };
}
