import { data, endingOf } from "./wire-format.ts";
import type { Ending, WireFormat } from "./wire-format.ts";

const candidate = (parts: readonly object[], finishReason?: string) => ({
  candidates: [
    {
      content: { role: "model", parts },
      index: 0,
      ...(finishReason === undefined ? {} : { finishReason }),
    },
  ],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 },
});

const geminiEndings: Record<Ending, string> = {
  normal: "STOP",
  cut: "MAX_TOKENS",
  filter: "SAFETY",
  unknown: "VANISHED",
};

export const gemini: WireFormat = {
  stream: (reply) => {
    // Gemini refuses by not taking the prompt at all.
    if (reply.kind === "refusal") {
      return data({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } });
    }
    if (reply.kind === "tool") {
      const call = { functionCall: { name: "bash", args: { command: reply.command } } };
      return data(candidate([call], "STOP"));
    }
    const parts = reply.text === "" ? [] : [{ text: reply.text }];
    return data(candidate(parts, geminiEndings[endingOf(reply)]));
  },
  errorEvent: data({
    error: { code: 503, message: "The model is overloaded", status: "UNAVAILABLE" },
  }),
  garbage: "data: {{{{\n\n",
  begin: data(candidate([{ text: "I was about" }])),
};
