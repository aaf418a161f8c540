import { callsOf, data, textOf, wordFor, type WireFormat } from "./wire-format.ts";

const few = { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 };

const candidate = (parts: readonly object[], finishReason?: string, usage: object = few) => ({
  candidates: [
    { content: { role: "model", parts }, index: 0, ...(finishReason && { finishReason }) },
  ],
  usageMetadata: usage,
});

const endings = { normal: "STOP", cut: "MAX_TOKENS", filter: "SAFETY", unknown: "VANISHED" };

export const gemini: WireFormat = {
  stream: (reply, usage = few) => {
    // Gemini refuses by not taking the prompt at all.
    if (reply.kind === "refusal") {
      return data({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } });
    }
    const calls = callsOf(reply).map(({ name, json }) => ({
      functionCall: { name, args: JSON.parse(json) as object },
    }));
    const text = textOf(reply);
    const parts = text === "" ? calls : [{ text }];
    return data(candidate(parts, wordFor(reply, "STOP", endings), usage));
  },
  errorEvent: data({
    error: { code: 503, message: "The model is overloaded", status: "UNAVAILABLE" },
  }),
  garbage: "data: {{{{\n\n",
  begin: data(candidate([{ text: "I was about" }])),
};
