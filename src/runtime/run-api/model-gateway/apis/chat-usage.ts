import type { CallUsage } from "../../../../foundation/contracts/model-gateway.ts";
import { at, countAt, isObject, listAt, objectAt, textAt } from "../json.ts";
import type { Json } from "../json.ts";
import type { UsageReader } from "../wire-api.ts";
import { bytesOf } from "./output-bytes.ts";

/**
 * Chat completions of OpenAI, Mistral and all that speak like them: `usage` in the last chunk or in the one document.
 * Source: OpenAI's "Chat Completions" reference, Mistral's "Chat Completion".
 */
export function readChatUsage(): UsageReader {
  let usage: Json | null = null;
  let serviceTier: string | null = null;
  let [isFinished, hasFailed] = [false, false];
  let outputBytes = 0;
  return {
    take: (event) => {
      const choices = listAt(event, "choices");
      // Groq and Moonshot have it in other places as well.
      const places = [at(event, "usage"), at(event, "x_groq", "usage"), at(choices[0], "usage")];
      usage = places.find(isObject) ?? usage;
      serviceTier = textAt(event, "service_tier") ?? serviceTier;
      hasFailed ||= isObject(at(event, "error"));
      for (const choice of choices) {
        isFinished ||= textAt(choice, "finish_reason") !== null;
        outputBytes += deltaBytes(objectAt(choice, "delta"));
      }
    },
    read: () => ({
      usage: usage === null ? null : usageOf(usage),
      // Some servers report the usage so far with each chunk.
      isFinal: usage !== null && isFinished,
      outputBytes,
      hasFailed,
      serviceTier,
    }),
  };
}

function deltaBytes(delta: Json): number {
  const { content, reasoning_content, reasoning, refusal } = delta;
  const calls = listAt(delta, "tool_calls").map((call) => at(call, "function", "arguments"));
  return bytesOf(content, reasoning_content ?? reasoning, refusal, ...calls);
}

/**
 * `prompt_tokens` includes the cache, whose place differs: OpenAI and OpenRouter `prompt_tokens_details`, DeepSeek
 * `prompt_cache_hit_tokens`, Moonshot `cached_tokens`, Mistral all of the spellings below. Servers that leave thinking out
 * of `completion_tokens` (xAI, Google) have it in `total_tokens`.
 */
function usageOf(usage: Json): CallUsage {
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
