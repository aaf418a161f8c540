import { objectAt, type Json } from "../../../wire/json.ts";
import type { WireApi } from "../wire-api.ts";
import { chatRequest } from "./chat-request.ts";
import { chatUsage, chatLimit, readChatEvent } from "./chat-usage.ts";
import { withServiceTier, openaiErrorBody } from "./service-tier.ts";

/** Chat completions, as OpenAI, Groq, xAI, OpenRouter and most servers of one's own speak them. */
export const openaiCompletions: WireApi = {
  route: (path) => (path === "/chat/completions" ? { path, query: {}, isMetered: true } : null),
  keyHeader: (key) => ["authorization", `Bearer ${key}`],
  prepare: (body, model) => {
    const named = withServiceTier({ ...body, model: model.model }, model);
    return model.provider === "mistral" ? named : withUsage(named);
  },
  limit: chatLimit((_body, _tokens, { provider }) =>
    provider === "openai" || provider === "groq" ? "max_completion_tokens" : "max_tokens",
  ),
  request: chatRequest(["function", "custom"]),
  errorBody: openaiErrorBody,
  readEvent: readChatEvent,
  usageOf: chatUsage,
};

/**
 * Servers report a stream's usage only on request. Some servers also accept "true" and 1 as true. Source: OpenAI's
 * reference, `stream_options`.
 */
function withUsage(body: Json): Json {
  if ((body.stream ?? false) === false) return body;
  const options = objectAt(body, "stream_options");
  if (options.include_usage === true) return body;
  return { ...body, stream_options: { ...options, include_usage: true } };
}
