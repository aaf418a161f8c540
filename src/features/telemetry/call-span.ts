import type { Provider } from "../../../streams/agent-config.ts";
import type { MeteredCall } from "../../foundation/contracts/spend.ts";
import { attributes, type Span } from "./span.ts";
import { runSpanId, spanIdInRun } from "./trace-ids.ts";

/** The names of the conventions; others are their own. */
const providerNames: Partial<Record<Provider, string>> = {
  google: "gcp.gemini",
  xai: "x_ai",
  mistral: "mistral_ai",
};

/** The span of a call to a model. */
export function callSpan(call: MeteredCall, traceId: string): Span {
  const { agent, instanceId, seq, provider, providerModel, status, usage } = call;
  const { endedAt, totalMs, firstByteMs, usd } = call;
  const failure = failureOf(call);
  return {
    traceId,
    spanId: spanIdInRun("chat", instanceId, String(seq)),
    parentId: runSpanId(instanceId),
    name: `chat ${providerModel}`,
    kind: "client",
    startMs: endedAt - totalMs,
    endMs: endedAt,
    attributes: attributes({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": providerNames[provider] ?? provider,
      "gen_ai.request.model": providerModel,
      "gen_ai.agent.name": agent,
      "gen_ai.conversation.id": instanceId,
      "gen_ai.response.time_to_first_chunk": firstByteMs === null ? null : firstByteMs / 1000,
      "gen_ai.usage.input_tokens": usage && usage.input + usage.cacheRead + usage.cacheWrite,
      "gen_ai.usage.output_tokens": usage?.output,
      "gen_ai.usage.cache_read.input_tokens": usage?.cacheRead,
      // The conventions renamed the attribute; backends know one of the two names.
      "gen_ai.usage.cache_creation.input_tokens": usage?.cacheWrite,
      "gen_ai.usage.cache_write.input_tokens": usage?.cacheWrite,
      "http.response.status_code": status,
      "al.cost.usd": usd,
      "error.type": failure,
    }),
    links: [],
    error: failure,
  };
}

function failureOf({ status, isCut }: MeteredCall): string | null {
  if (status === null) return isCut ? "cut" : "no_answer";
  if (status >= 400) return String(status);
  return isCut ? "cut" : null;
}
