import { at, listAt, textAt } from "../json.ts";
import { fieldNames, unversioned } from "../provider-side.ts";
import type { ProviderSideRules, WireApi } from "../wire-api.ts";
import { openaiContentName } from "./openai-content.ts";
import { openaiErrorBody } from "./openai-error.ts";
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
  providerSide: providerSide(),
  errorBody: openaiErrorBody,
  createUsageReader: readResponsesUsage,
};

/** The API refuses a lower limit. */
const minOutputTokens = 16;

const clientTools = new Set([
  "function",
  "custom",
  "local_shell",
  "apply_patch",
  "computer",
  "computer_use_preview",
  // It searches the tools that the request declares.
  "tool_search",
]);

/** What runs later (`background`) or starts from what is stored there is neither metered nor checked. */
function providerSide(): ProviderSideRules {
  return {
    toolNames,
    messageFields: ["input"],
    contentName: openaiContentName,
    opaqueFields: new Set(["arguments", "parameters", "action"]),
    bodyNames: (body) =>
      fieldNames(body, {
        background: [false],
        conversation: [],
        previous_response_id: [],
        prompt: [],
        search_parameters: [],
        service_tier: ["auto", "default", "flex"],
      }),
  };
}

function toolNames(tool: unknown): readonly string[] {
  const type = textAt(tool, "type") ?? "function";
  if (type === "namespace") return listAt(tool, "tools").flatMap(toolNames);
  if (type === "shell") return at(tool, "environment", "type") === "local" ? [] : ["shell"];
  return clientTools.has(type) ? [] : [unversioned(type)];
}
