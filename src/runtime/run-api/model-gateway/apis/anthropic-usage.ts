import type { CallUsage } from "../../../../foundation/contracts/model-gateway.ts";
import { countAt, isObject, listAt, objectAt, textAt } from "../json.ts";
import type { Json } from "../json.ts";
import type { UsageReader } from "../wire-api.ts";
import { bytesOf } from "./output-bytes.ts";

/**
 * `message_start` has the input and `message_delta` the output so far, cumulative and without the fields that it leaves
 * as they are. A plain answer is one `message`. Input excludes the cache, output includes thinking. Source:
 * docs.anthropic.com, "Streaming Messages", "Prompt caching".
 */
export function readAnthropicUsage(): UsageReader {
  let usage: Json | null = null;
  let [isFinal, hasFailed] = [false, false];
  let outputBytes = 0;
  const add = (more: Json) => {
    const known = Object.entries(more).filter(([, value]) => value !== null);
    usage = { ...usage, ...Object.fromEntries(known) };
  };
  const take = (event: unknown) => {
    switch (textAt(event, "type")) {
      case "message_start":
        return add(objectAt(event, "message", "usage"));
      case "message_delta":
        isFinal ||= isObject(event) && isObject(event.usage);
        return add(objectAt(event, "usage"));
      case "message":
        isFinal = true;
        return add(objectAt(event, "usage"));
      case "content_block_delta": {
        const { text, thinking, partial_json } = objectAt(event, "delta");
        outputBytes += bytesOf(text, thinking, partial_json);
        return;
      }
      case "error":
        hasFailed = true;
    }
  };
  return {
    take,
    read: () => ({
      usage: usage === null ? null : totalOf(usage),
      isFinal,
      outputBytes,
      hasFailed,
      serviceTier: textAt(usage, "service_tier"),
    }),
  };
}

/**
 * With `iterations` the answer was made in several steps, of which the fields beside it leave some out. Source:
 * "Compaction", "Understanding usage".
 */
function totalOf(usage: Json): CallUsage {
  const total = usageOf(usage);
  const steps = listAt(usage, "iterations").map(usageOf);
  const most = (field: keyof CallUsage) =>
    Math.max(
      total[field],
      steps.reduce((sum, step) => sum + step[field], 0),
    );
  return {
    input: most("input"),
    cacheRead: most("cacheRead"),
    cacheWrite: most("cacheWrite"),
    cacheWrite1h: most("cacheWrite1h"),
    output: most("output"),
  };
}

function usageOf(usage: unknown): CallUsage {
  return {
    input: countAt(usage, "input_tokens") ?? 0,
    cacheRead: countAt(usage, "cache_read_input_tokens") ?? 0,
    cacheWrite: countAt(usage, "cache_creation_input_tokens") ?? 0,
    cacheWrite1h: countAt(usage, "cache_creation", "ephemeral_1h_input_tokens") ?? 0,
    output: countAt(usage, "output_tokens") ?? 0,
  };
}
