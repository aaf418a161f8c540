import { callsOf, data, piecesOf, refusalText, textOf, wordFor } from "./wire-format.ts";
import type { ToolCall, WireFormat } from "./wire-format.ts";

const endings = { normal: "stop", cut: "length", filter: "content_filter", unknown: "vanished" };

const completion = (delta: object, finish: string | null = null) => ({
  id: "c1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta, finish_reason: finish }],
});

const callChunks = (call: ToolCall, index: number) => {
  const { id, name } = call;
  const begin = { index, id, type: "function", function: { name, arguments: "" } };
  const pieces = piecesOf(call).map((part) => ({ index, function: { arguments: part } }));
  return [begin, ...pieces].map((piece) => completion({ tool_calls: [piece] }));
};

const few = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };

/** Chat completions; Mistral's API has the same shape. */
export const completions: WireFormat = {
  stream: (reply, usage = few) => {
    const isRefusal = reply.kind === "refusal";
    const content = isRefusal
      ? { content: null, refusal: refusalText }
      : { content: textOf(reply) };
    const finish = wordFor(reply, "tool_calls", endings);
    const last = { ...completion({ content: "" }, finish), usage };
    const calls = callsOf(reply).flatMap(callChunks);
    return `${data(completion({ role: "assistant", ...content }), ...calls, last)}data: [DONE]\n\n`;
  },
  errorEvent: data({ error: { message: "upstream is overloaded", code: 503 } }),
  garbage: 'data: {"id":"c1","choices":[{"delta":{"content":"ha\n\n',
  begin: data(completion({ role: "assistant", content: "I was about" })),
};
