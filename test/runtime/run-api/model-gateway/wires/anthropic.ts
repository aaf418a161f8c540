import { namedEvents } from "../support.ts";
import { messages, text, type Wire } from "./wire.ts";

const anthropicUsage = {
  input_tokens: 12,
  cache_creation_input_tokens: 300,
  cache_read_input_tokens: 4000,
  cache_creation: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 100 },
  output_tokens: 1,
  service_tier: "standard",
};
const anthropicMessage = {
  id: "msg_01",
  type: "message",
  role: "assistant",
  model: "model-1",
  content: [],
  stop_reason: null,
  stop_sequence: null,
};

export const anthropic: Wire = {
  title: "anthropic-messages",
  model: { provider: "anthropic", api: "anthropic-messages" },
  basePath: "",
  path: "/v1/messages?beta=true",
  body: { model: "model-1", max_tokens: 64_000, stream: true, messages },
  plainBody: { model: "model-1", max_tokens: 64_000, messages },
  stream: (newline) =>
    namedEvents(
      [
        { type: "message_start", message: { ...anthropicMessage, usage: anthropicUsage } },
        {
          type: "content_block_start",
          index: 0,
          content_block: { type: "thinking", thinking: "", signature: "" },
        },
        { type: "ping" },
        {
          type: "content_block_delta",
          index: 0,
          delta: { type: "thinking_delta", thinking: text },
        },
        {
          type: "content_block_delta",
          index: 0,
          delta: { type: "signature_delta", signature: "EqQBCg==" },
        },
        { type: "content_block_stop", index: 0 },
        { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 1, delta: { type: "text_delta", text } },
        { type: "content_block_stop", index: 1 },
        {
          type: "message_delta",
          delta: { stop_reason: "end_turn", stop_sequence: null },
          usage: { output_tokens: 777 },
        },
        { type: "message_stop" },
      ],
      newline,
    ),
  plain: {
    ...anthropicMessage,
    content: [{ type: "text", text }],
    stop_reason: "end_turn",
    usage: { ...anthropicUsage, output_tokens: 777 },
  },
  usage: { input: 12, cacheRead: 4000, cacheWrite: 300, cacheWrite1h: 100, output: 777 },
  serviceTier: "standard",
  outputWhenCut: 13,
  key: ["x-api-key", "real-key"],
};
