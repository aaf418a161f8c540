import { dataEvents, namedEvents } from "../support.ts";
import { messages, text, type Wire } from "./wire.ts";

const begun = { id: "resp_1", object: "response", service_tier: "auto", usage: null };
const response = {
  ...begun,
  service_tier: "priority",
  usage: {
    input_tokens: 5000,
    input_tokens_details: { cached_tokens: 4096, cache_write_tokens: 4 },
    output_tokens: 321,
    total_tokens: 5321,
  },
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
        { type: "response.created", response: begun },
        { type: "response.output_text.delta", item_id: "msg_1", delta: text, obfuscation: "aaaa" },
        { type: "response.completed", response },
      ],
      newline,
    ),
  plain: response,
  usage: { input: 900, cacheRead: 4096, cacheWrite: 4, cacheWrite1h: 0, output: 321 },
  serviceTier: "priority",
  outputWhenCut: 13,
  key: ["authorization", "Bearer real-key"],
};

const chunk = (choices: readonly object[], usage: object | null = null) => ({
  object: "chat.completion.chunk",
  service_tier: "default",
  choices,
  usage,
});
const usage = {
  prompt_tokens: 1000,
  prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 50 },
  completion_tokens: 42,
  total_tokens: 1042,
};

export const completions: Wire = {
  title: "openai-completions",
  model: { provider: "custom", api: "openai-completions" },
  basePath: "/v1",
  path: "/chat/completions",
  body: { model: "model-1", stream: true, messages, stream_options: { include_usage: true } },
  plainBody: { model: "model-1", messages },
  stream: (newline) =>
    dataEvents(
      [
        chunk([{ index: 0, delta: { content: text }, finish_reason: null }]),
        chunk([{ index: 0, delta: {}, finish_reason: "stop" }]),
        chunk([], usage),
      ],
      { newline, done: true },
    ),
  plain: {
    object: "chat.completion",
    service_tier: "default",
    choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
    usage,
  },
  usage: { input: 350, cacheRead: 600, cacheWrite: 50, cacheWrite1h: 0, output: 42 },
  serviceTier: "default",
  outputWhenCut: 13,
  key: ["authorization", "Bearer real-key"],
};
