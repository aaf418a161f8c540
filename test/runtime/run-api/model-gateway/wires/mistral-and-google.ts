import { dataEvents } from "../support.ts";
import { messages, text, type Wire } from "./wire.ts";

const usage = { prompt_tokens: 90, completion_tokens: 7, total_tokens: 97, num_cached_tokens: 64 };
const thinking = { type: "thinking", thinking: [{ type: "text", text }] };

export const mistral: Wire = {
  title: "mistral-conversations",
  model: { provider: "mistral", api: "mistral-conversations" },
  basePath: "",
  path: "/v1/chat/completions",
  body: { model: "model-1", stream: true, messages },
  plainBody: { model: "model-1", messages },
  stream: (newline) =>
    dataEvents(
      [
        { choices: [{ index: 0, delta: { content: [thinking] }, finish_reason: null }] },
        { choices: [{ index: 0, delta: { content: "" }, finish_reason: "stop" }], usage },
      ],
      { newline, done: true },
    ),
  plain: {
    choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
    usage,
  },
  usage: { input: 26, cacheRead: 64, cacheWrite: 0, cacheWrite1h: 0, output: 7 },
  serviceTier: null,
  outputWhenCut: 33,
  key: ["authorization", "Bearer real-key"],
};

const gemini = (part: object, thoughtsTokenCount: number, more: object = {}) => ({
  candidates: [{ content: { role: "model", parts: [part] }, index: 0, ...more }],
  usageMetadata: {
    promptTokenCount: 2000,
    cachedContentTokenCount: 1500,
    toolUsePromptTokenCount: 3,
    candidatesTokenCount: 10,
    thoughtsTokenCount,
  },
});
const contents = [{ role: "user", parts: [{ text: "hi" }] }];

export const google: Wire = {
  title: "google-generative-ai",
  model: { provider: "google", api: "google-generative-ai" },
  basePath: "/v1beta",
  path: "/models/model-1:streamGenerateContent?alt=sse",
  plainPath: "/models/model-1:generateContent",
  body: { contents },
  plainBody: { contents },
  stream: (newline) =>
    dataEvents(
      [
        gemini({ text, thought: true }, 5),
        gemini({ functionCall: { name: "bash", args: { command: "ls" } } }, 80),
        gemini({ text: "" }, 90, { finishReason: "STOP" }),
      ],
      { newline },
    ),
  plain: gemini({ text }, 90, { finishReason: "STOP" }),
  usage: { input: 503, cacheRead: 1500, cacheWrite: 0, cacheWrite1h: 0, output: 100 },
  serviceTier: null,
  outputWhenCut: 15,
  key: ["x-goog-api-key", "real-key"],
};
