import type { ModelApi } from "../../../../streams/agent-config.ts";
import { anthropicMessages } from "./apis/anthropic-messages.ts";
import { googleGenerativeAi } from "./apis/google-generative-ai.ts";
import { mistralConversations } from "./apis/mistral-conversations.ts";
import { openaiCompletions } from "./apis/openai-completions.ts";
import { openaiResponses } from "./apis/openai-responses.ts";
import type { WireApi } from "./wire-api.ts";

/** All wire formats. OpenRouter's models have two of them. */
export const wireApis: Readonly<Record<ModelApi, WireApi>> = {
  "anthropic-messages": anthropicMessages,
  "openai-responses": openaiResponses,
  "openai-completions": openaiCompletions,
  "google-generative-ai": googleGenerativeAi,
  "mistral-conversations": mistralConversations,
};
