import type { CallUsage } from "../../../../foundation/contracts/model-gateway.ts";
import { at, countAt, isObject, listAt, textAt } from "../json.ts";
import type { Json } from "../json.ts";
import type { UsageReader } from "../wire-api.ts";
import { bytesOf } from "./output-bytes.ts";

/**
 * Each chunk has the usage so far, and the last one counts; a plain answer is one such chunk. Source: ai.google.dev,
 * "GenerateContentResponse", "UsageMetadata".
 */
export function readGoogleUsage(): UsageReader {
  let usage: Json | null = null;
  let [isFinished, hasFailed] = [false, false];
  let outputBytes = 0;
  return {
    take: (event) => {
      const metadata = at(event, "usageMetadata");
      if (isObject(metadata)) usage = metadata;
      hasFailed ||= isObject(at(event, "error"));
      isFinished ||= textAt(event, "promptFeedback", "blockReason") !== null;
      for (const candidate of listAt(event, "candidates")) {
        isFinished ||= textAt(candidate, "finishReason") !== null;
        for (const part of listAt(candidate, "content", "parts")) {
          outputBytes += bytesOf(at(part, "text"), at(part, "functionCall", "args"));
        }
      }
    },
    read: () => ({
      usage: usage === null ? null : usageOf(usage),
      isFinal: usage !== null && isFinished,
      outputBytes,
      hasFailed,
      serviceTier: null,
    }),
  };
}

/** `promptTokenCount` includes the cache; what tools of the provider added to the prompt is beside it. */
function usageOf(usage: Json): CallUsage {
  const prompt = countAt(usage, "promptTokenCount") ?? 0;
  const cacheRead = Math.min(prompt, countAt(usage, "cachedContentTokenCount") ?? 0);
  return {
    input: prompt - cacheRead + (countAt(usage, "toolUsePromptTokenCount") ?? 0),
    cacheRead,
    cacheWrite: 0,
    cacheWrite1h: 0,
    output:
      (countAt(usage, "candidatesTokenCount") ?? 0) + (countAt(usage, "thoughtsTokenCount") ?? 0),
  };
}
