import { namedEvents } from "../support.ts";
import { messages, text, type Wire } from "./wire.ts";

const counts = {
  input_tokens: 12,
  cache_creation_input_tokens: 300,
  cache_read_input_tokens: 4000,
  cache_creation: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 100 },
  output_tokens: 1,
  service_tier: "standard",
};
const message = { id: "msg_01", type: "message", role: "assistant", content: [] };
const delta = (index: number, given: object) => ({
  type: "content_block_delta",
  index,
  delta: given,
});

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
        { type: "message_start", message: { ...message, usage: counts } },
        { type: "ping" },
        delta(0, { type: "thinking_delta", thinking: text }),
        delta(0, { type: "signature_delta", signature: "EqQBCg==" }),
        { type: "content_block_stop", index: 0 },
        delta(1, { type: "text_delta", text }),
        {
          type: "message_delta",
          delta: { stop_reason: "end_turn" },
          usage: { output_tokens: 777 },
        },
        { type: "message_stop" },
      ],
      newline,
    ),
  plain: {
    ...message,
    content: [{ type: "text", text }],
    stop_reason: "end_turn",
    usage: { ...counts, output_tokens: 777 },
  },
  usage: { input: 12, cacheRead: 4000, cacheWrite: 300, cacheWrite1h: 100, output: 777 },
  serviceTier: "standard",
  outputWhenCut: 13,
  key: ["x-api-key", "real-key"],
};
