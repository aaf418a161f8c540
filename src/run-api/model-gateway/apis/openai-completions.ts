import { objectAt, textAt } from "../json.ts";
import type { Json } from "../json.ts";
import { fieldNames, unversioned } from "../provider-side.ts";
import type { ProviderSideRules, WireApi } from "../wire-api.ts";
import { chatLimit } from "./chat-limit.ts";
import { readChatUsage } from "./chat-usage.ts";
import { openaiContentName } from "./openai-content.ts";
import { openaiErrorBody } from "./openai-error.ts";
import { withServiceTier } from "./service-tier.ts";

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
  providerSide: chatProviderSide(),
  errorBody: openaiErrorBody,
  createUsageReader: readChatUsage,
};

/**
 * A stream has its usage only when it is asked for. Some servers take "true" and 1 for true as well. Source: OpenAI's
 * reference, `stream_options`.
 */
function withUsage(body: Json): Json {
  if ((body.stream ?? false) === false) return body;
  const options = objectAt(body, "stream_options");
  if (options.include_usage === true) return body;
  return { ...body, stream_options: { ...options, include_usage: true } };
}

/**
 * `models`, `route`, `preset`, `provider` and `plugins` are OpenRouter's other models, servers with other prices, and
 * tools; `search_parameters` is xAI's search, `compound_custom` Groq's tools. More than one answer (`n`) would exceed the
 * limit, as what a `prediction` got wrong does; audio has a price of its own, and a `deferred` answer is fetched later.
 */
export function chatProviderSide(): ProviderSideRules {
  return {
    toolNames: (tool) => {
      const type = textAt(tool, "type") ?? "function";
      return type === "function" || type === "custom" ? [] : [unversioned(type)];
    },
    messageFields: ["messages"],
    contentName: openaiContentName,
    opaqueFields: new Set(),
    bodyNames: (body) =>
      fieldNames(body, {
        web_search_options: [],
        search_parameters: [],
        compound_custom: [],
        plugins: [],
        models: [],
        route: [],
        preset: [],
        provider: [],
        prediction: [],
        deferred: [false],
        audio: [],
        n: [1],
        service_tier: ["auto", "default", "flex", "on_demand", "standard"],
      }),
  };
}
