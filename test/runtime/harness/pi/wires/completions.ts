import { data, endingOf, refusalText, textOf } from "./wire-format.ts";
import type { Billed, Ending, WireFormat } from "./wire-format.ts";

const completionEndings: Record<Ending, string> = {
  normal: "stop",
  cut: "length",
  filter: "content_filter",
  unknown: "vanished",
};

const completion = (delta: object, finish: string | null = null) => ({
  id: "c1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta, finish_reason: finish }],
});

const few: Billed = { usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 } };

/** Chat completions; Mistral's API has the same shape. */
export const completions: WireFormat = {
  stream: (reply, { usage } = few) => {
    const call = (command: string) => ({
      index: 0,
      id: "call12345",
      type: "function",
      function: { name: "bash", arguments: JSON.stringify({ command }) },
    });
    const delta =
      reply.kind === "tool"
        ? { role: "assistant", content: "", tool_calls: [call(reply.command)] }
        : reply.kind === "refusal"
          ? { role: "assistant", content: null, refusal: refusalText }
          : { role: "assistant", content: textOf(reply) };
    const finish = reply.kind === "tool" ? "tool_calls" : completionEndings[endingOf(reply)];
    const last = { ...completion({ content: "" }, finish), usage };
    return `${data(completion(delta), last)}data: [DONE]\n\n`;
  },
  errorEvent: data({ error: { message: "upstream is overloaded", code: 503 } }),
  garbage: 'data: {"id":"c1","choices":[{"delta":{"content":"ha\n\n',
  begin: data(completion({ role: "assistant", content: "I was about" })),
};
