import { textAt } from "../json.ts";
import type { WireApi } from "../wire-api.ts";
import { chatLimit } from "./chat-limit.ts";
import { readChatUsage } from "./chat-usage.ts";
import { chatProviderSide } from "./openai-completions.ts";

/** Mistral's chat completions. Source: docs.mistral.ai, "Chat Completion Endpoint". */
export const mistralConversations: WireApi = {
  route: (path) => (path === "/v1/chat/completions" ? { path, query: {}, isMetered: true } : null),
  keyHeader: (key) => ["authorization", `Bearer ${key}`],
  prepare: (body, { model }) => ({ ...body, model }),
  limit: chatLimit(() => "max_tokens"),
  providerSide: {
    ...chatProviderSide(),
    // Its connectors, such as web_search, are types of tools as well.
    toolNames: (tool) => {
      const type = textAt(tool, "type") ?? "function";
      return type === "function" ? [] : [type];
    },
  },
  errorBody: ({ status, code, message }) => ({
    object: "error",
    message,
    type: status >= 500 ? "service_error" : "invalid_request_error",
    param: null,
    code,
  }),
  createUsageReader: readChatUsage,
};
