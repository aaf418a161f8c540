import { dataEvents, namedEvents } from "../support.ts";
import { messages, text, type Wire } from "./wire.ts";

const response = {
  id: "resp_1",
  object: "response",
  model: "model-1",
  output: [],
  service_tier: "auto",
  usage: null,
};
const responseUsage = {
  input_tokens: 5000,
  input_tokens_details: { cached_tokens: 4096, cache_write_tokens: 4 },
  output_tokens: 321,
  output_tokens_details: { reasoning_tokens: 300 },
  total_tokens: 5321,
};

const named = { model: "model-1", store: false, service_tier: "default" };

export const responses: Wire = {
  title: "openai-responses",
  model: { provider: "openai", api: "openai-responses" },
  basePath: "/v1",
  path: "/responses",
  body: { ...named, stream: true, input: messages },
  plainBody: { ...named, input: "hi" },
  stream: (newline) =>
    namedEvents(
      [
        { type: "response.created", sequence_number: 0, response },
        { type: "response.in_progress", sequence_number: 1, response },
        {
          type: "response.output_text.delta",
          sequence_number: 2,
          item_id: "msg_1",
          output_index: 0,
          content_index: 0,
          delta: text,
          obfuscation: "aaaa",
        },
        {
          type: "response.completed",
          sequence_number: 3,
          response: { ...response, service_tier: "priority", usage: responseUsage },
        },
      ],
      newline,
    ),
  plain: { ...response, service_tier: "priority", usage: responseUsage },
  usage: { input: 900, cacheRead: 4096, cacheWrite: 4, cacheWrite1h: 0, output: 321 },
  serviceTier: "priority",
  outputWhenCut: 13,
  key: ["authorization", "Bearer real-key"],
};

const chunk = (choices: readonly object[], usage: object | null = null) => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1,
  model: "model-1",
  service_tier: "default",
  choices,
  usage,
});
const chatUsage = {
  prompt_tokens: 1000,
  prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 50 },
  completion_tokens: 42,
  completion_tokens_details: { reasoning_tokens: 30 },
  total_tokens: 1042,
};
const chatStream = (newline: string) =>
  dataEvents(
    [
      chunk([{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }]),
      chunk([{ index: 0, delta: { content: text }, finish_reason: null }]),
      chunk([{ index: 0, delta: {}, finish_reason: "stop" }]),
      chunk([], chatUsage),
    ],
    { newline, done: true },
  );
const chatPlain = {
  ...chunk([{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }]),
  object: "chat.completion",
  usage: chatUsage,
};

export const completions: Wire = {
  title: "openai-completions",
  model: { provider: "custom", api: "openai-completions" },
  basePath: "/v1",
  path: "/chat/completions",
  body: { model: "model-1", stream: true, messages, stream_options: { include_usage: true } },
  plainBody: { model: "model-1", messages },
  stream: chatStream,
  plain: chatPlain,
  usage: { input: 350, cacheRead: 600, cacheWrite: 50, cacheWrite1h: 0, output: 42 },
  serviceTier: "default",
  outputWhenCut: 13,
  key: ["authorization", "Bearer real-key"],
};
