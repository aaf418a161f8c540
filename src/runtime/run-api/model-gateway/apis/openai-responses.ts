import type { WireApi } from "../wire-api.ts";
import { openaiErrorBody } from "./openai-error.ts";
import { responsesRequest } from "./responses-request.ts";
import { readResponsesUsage } from "./responses-usage.ts";
import { withServiceTier } from "./service-tier.ts";
import { tokensAt } from "./tokens-at.ts";

/** The Responses API. Source: OpenAI's reference, "Responses", "Streaming events". */
export const openaiResponses: WireApi = {
  route: (path) => (path === "/responses" ? { path, query: {}, isMetered: true } : null),
  keyHeader: (key) => ["authorization", `Bearer ${key}`],
  prepare: (body, model) => withServiceTier({ ...body, model: model.model }, model),
  limit: {
    read: (body) => tokensAt(body, 1, "max_output_tokens"),
    thinkingBudget: () => 0,
    write: (body, tokens) => ({ ...body, max_output_tokens: Math.max(tokens, minOutputTokens) }),
  },
  request: responsesRequest,
  errorBody: openaiErrorBody,
  createUsageReader: readResponsesUsage,
};

/** The API refuses a lower limit. */
const minOutputTokens = 16;
