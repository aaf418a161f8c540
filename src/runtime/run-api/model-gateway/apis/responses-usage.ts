import type { CallUsage } from "../../../../foundation/contracts/model-gateway.ts";
import { at, countAt, isObject, textAt } from "../json.ts";
import type { Json } from "../json.ts";
import type { UsageReader } from "../wire-api.ts";
import { bytesOf } from "./output-bytes.ts";

const lastEvents = new Set(["response.completed", "response.incomplete", "response.failed"]);

/**
 * The last event of a stream has the response with its usage and the tier that served it; a plain answer is the response
 * itself. Input includes the cache, output includes thinking. Source: OpenAI's reference, "Streaming events".
 */
export function readResponsesUsage(): UsageReader {
  let response: unknown = null;
  let hasFailed = false;
  let outputBytes = 0;
  return {
    take: (event) => {
      const type = textAt(event, "type") ?? "";
      if (type.endsWith(".delta")) outputBytes += bytesOf(textAt(event, "delta"));
      else if (lastEvents.has(type)) response = at(event, "response");
      else if (at(event, "object") === "response") response = event;
      hasFailed ||= type === "error" || type === "response.failed";
    },
    read: () => {
      const usage = at(response, "usage");
      return {
        usage: isObject(usage) ? usageOf(usage) : null,
        isFinal: isObject(usage),
        outputBytes,
        hasFailed,
        serviceTier: textAt(response, "service_tier"),
      };
    },
  };
}

/** Servers that leave thinking out of `output_tokens` have it in `total_tokens`. */
function usageOf(usage: Json): CallUsage {
  const input = countAt(usage, "input_tokens") ?? 0;
  const cached = countAt(usage, "input_tokens_details", "cached_tokens") ?? 0;
  const written = countAt(usage, "input_tokens_details", "cache_write_tokens") ?? 0;
  const output = countAt(usage, "output_tokens") ?? 0;
  const cacheRead = Math.min(input, cached);
  const cacheWrite = Math.min(input - cacheRead, written);
  return {
    input: input - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite,
    cacheWrite1h: 0,
    output: Math.max(output, (countAt(usage, "total_tokens") ?? 0) - input),
  };
}
