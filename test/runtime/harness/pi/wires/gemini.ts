import { data, endingOf, type Billed, type Ending, type WireFormat } from "./wire-format.ts";

const few: Billed = {
  usage: { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 },
};

const candidate = (parts: readonly object[], finishReason?: string, { usage } = few) => ({
  candidates: [
    {
      content: { role: "model", parts },
      index: 0,
      ...(finishReason === undefined ? {} : { finishReason }),
    },
  ],
  usageMetadata: usage,
});

const geminiEndings: Record<Ending, string> = {
  normal: "STOP",
  cut: "MAX_TOKENS",
  filter: "SAFETY",
  unknown: "VANISHED",
};

export const gemini: WireFormat = {
  stream: (reply, billed = few) => {
    // Gemini refuses by not taking the prompt at all.
    if (reply.kind === "refusal") {
      return data({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } });
    }
    if (reply.kind === "tool") {
      const call = { functionCall: { name: "bash", args: { command: reply.command } } };
      return data(candidate([call], "STOP", billed));
    }
    const parts = reply.text === "" ? [] : [{ text: reply.text }];
    return data(candidate(parts, geminiEndings[endingOf(reply)], billed));
  },
  errorEvent: data({
    error: { code: 503, message: "The model is overloaded", status: "UNAVAILABLE" },
  }),
  garbage: "data: {{{{\n\n",
  begin: data(candidate([{ text: "I was about" }])),
};
