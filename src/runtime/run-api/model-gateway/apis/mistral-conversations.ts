import type { WireApi } from "../wire-api.ts";
import { chatRequest } from "./chat-request.ts";
import { chatUsage, chatLimit, readChatEvent } from "./chat-usage.ts";

/** Mistral's chat completions. Source: docs.mistral.ai, "Chat Completion Endpoint". */
export const mistralConversations: WireApi = {
  route: (path) => (path === "/v1/chat/completions" ? { path, query: {}, isMetered: true } : null),
  keyHeader: (key) => ["authorization", `Bearer ${key}`],
  prepare: (body, { model }) => ({ ...body, model }),
  limit: chatLimit(() => "max_tokens"),
  request: chatRequest(["function"]),
  errorBody: ({ status, code, message }) => ({
    object: "error",
    message,
    type: status >= 500 ? "service_error" : "invalid_request_error",
    param: null,
    code,
  }),
  readEvent: readChatEvent,
  usageOf: chatUsage,
};
