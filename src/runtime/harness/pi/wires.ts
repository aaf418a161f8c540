import type { ProviderStreams, SimpleStreamOptions } from "@earendil-works/pi-ai";
import { anthropicMessagesApi } from "@earendil-works/pi-ai/api/anthropic-messages.lazy";
import { googleGenerativeAIApi } from "@earendil-works/pi-ai/api/google-generative-ai.lazy";
import { mistralConversationsApi } from "@earendil-works/pi-ai/api/mistral-conversations.lazy";
import { openAICompletionsApi } from "@earendil-works/pi-ai/api/openai-completions.lazy";
import { openAIResponsesApi } from "@earendil-works/pi-ai/api/openai-responses.lazy";
import type { ModelApi } from "../../../../streams/agent-config.ts";

/** For a model's `maxTokens`: only the provider's own limit applies. */
export const noAnswerLimit = 0;

/** pi's clients, by the wire format of a model. */
export const wires: Readonly<Record<ModelApi, ProviderStreams>> = {
  "anthropic-messages": anthropicMessagesApi(),
  "openai-responses": openAIResponsesApi(),
  "openai-completions": openAICompletionsApi(),
  "google-generative-ai": withoutZeroLimit(googleGenerativeAIApi()),
  "mistral-conversations": withoutZeroLimit(mistralConversationsApi()),
};

/** The client sends a limit of 0, which OpenAI's clients omit. */
function withoutZeroLimit(client: ProviderStreams): ProviderStreams {
  return {
    ...client,
    streamSimple: (model, context, options) =>
      client.streamSimple(model, context, { ...options, onPayload: dropZeroLimit(options) }),
  };
}

function dropZeroLimit(
  options?: SimpleStreamOptions,
): NonNullable<SimpleStreamOptions["onPayload"]> {
  return async (payload, model) => {
    const changed = (await options?.onPayload?.(payload, model)) ?? payload;
    return model.maxTokens === noAnswerLimit ? withoutZeros(changed) : changed;
  };
}

/** The limit is `config.maxOutputTokens` for Google, `maxTokens` for Mistral. */
function withoutZeros(payload: unknown): unknown {
  if (typeof payload !== "object" || payload === null || Array.isArray(payload)) return payload;
  const kept = Object.entries(payload)
    .filter(([key, value]) => !(limits.has(key) && value === noAnswerLimit))
    .map(([key, value]: [string, unknown]) => [
      key,
      key === "config" ? withoutZeros(value) : value,
    ]);
  return Object.fromEntries(kept) as object;
}

const limits = new Set(["maxOutputTokens", "maxTokens"]);
