import type { UpstreamModel } from "../../../../foundation/contracts/model-gateway.ts";
import { at, objectAt, someObject, without } from "../json.ts";
import type { Json } from "../json.ts";
import type { OutputLimit, Problem, WireApi } from "../wire-api.ts";
import { anthropicRequest } from "./anthropic-request.ts";
import { readAnthropicUsage } from "./anthropic-usage.ts";
import { tokensAt } from "./tokens-at.ts";

/** The Messages API. Source: docs.anthropic.com, "Messages", "Count Message tokens", "Errors". */
export const anthropicMessages: WireApi = {
  route: (path, query) => {
    const isCount = path === "/v1/messages/count_tokens";
    if (!isCount && path !== "/v1/messages") return null;
    const beta = query.get("beta");
    return { path, query: beta === null ? {} : { beta }, isMetered: !isCount };
  },
  keyHeader: (key, authType) =>
    authType === "oauth_token" ? ["authorization", `Bearer ${key}`] : ["x-api-key", key],
  prepare,
  limit: limit(),
  writesLongCache,
  request: anthropicRequest,
  errorBody,
  createUsageReader: readAnthropicUsage,
};

/** `fallbacks` names other models, which may cost more; pi sends it for some, and takes a refusal without. */
function prepare(body: Json, { model, providerTools }: UpstreamModel): Json {
  const kept = providerTools.includes("fallbacks") ? body : without(body, "fallbacks");
  return { ...kept, model };
}

/** Source: "Prompt caching", 1-hour cache duration. */
function writesLongCache(body: Json): boolean {
  return someObject(body, (part) => at(part, "cache_control", "ttl") === "1h");
}

/** The smallest budget that the API takes. Source: "Extended thinking". */
const minThinkingTokens = 1024;

function limit(): OutputLimit {
  const budget = (body: Json) =>
    at(body, "thinking", "type") === "enabled"
      ? tokensAt(body, 0, "thinking", "budget_tokens")
      : null;
  return {
    read: (body) => tokensAt(body, 0, "max_tokens"),
    thinkingBudget: (body) => budget(body) ?? 0,
    // The API refuses a budget that is not below the limit.
    write: (body, tokens) => {
      const limited = { ...body, max_tokens: tokens };
      if ((budget(body) ?? 0) < tokens) return limited;
      const most = tokens - minThinkingTokens;
      if (most < minThinkingTokens) return { ...limited, thinking: { type: "disabled" } };
      return { ...limited, thinking: { ...objectAt(body, "thinking"), budget_tokens: most } };
    },
  };
}

const errorTypes: Readonly<Record<number, string>> = {
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  504: "timeout_error",
};

function errorBody({ status, code, message }: Problem): object {
  const type = errorTypes[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
  return { type: "error", error: { type, message, code } };
}
