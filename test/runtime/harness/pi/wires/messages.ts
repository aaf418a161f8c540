import { callsOf, named, piecesOf, textOf, wordFor } from "./wire-format.ts";
import type { ToolCall, Usage, WireFormat } from "./wire-format.ts";

const few = { input_tokens: 10, output_tokens: 2 };

/** The first event has the output so far. */
const messageStart = (usage: Usage) => ({
  type: "message_start",
  message: {
    id: "m1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    stop_reason: null,
    usage: { ...usage, output_tokens: 1 },
  },
});

const endings = {
  normal: "end_turn",
  cut: "max_tokens",
  filter: "sensitive",
  unknown: "vanished",
};

const begun = (index: number, content_block: object, deltas: readonly object[]) =>
  named(
    { type: "content_block_start", index, content_block },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  );
const textBlock = (text: string) =>
  begun(0, { type: "text", text: "" }, [{ type: "text_delta", text }]);
const callBlock = (call: ToolCall, index: number) => {
  const { id, name } = call;
  const deltas = piecesOf(call).map((part) => ({ type: "input_json_delta", partial_json: part }));
  return begun(index, { type: "tool_use", id, name, input: {} }, deltas);
};

export const messages: WireFormat = {
  stream: (reply, usage: Usage = few) => {
    const isRefusal = reply.kind === "refusal";
    const reason = isRefusal ? "refusal" : wordFor(reply, "tool_use", endings);
    const text = textOf(reply);
    const blocks = text === "" ? callsOf(reply).map(callBlock) : [textBlock(text)];
    const content = blocks.map(
      (block, index) => `${block}${named({ type: "content_block_stop", index })}`,
    );
    const delta = {
      type: "message_delta",
      delta: { stop_reason: reason },
      usage: { output_tokens: usage.output_tokens },
    };
    return `${named(messageStart(usage))}${content.join("")}${named(delta, { type: "message_stop" })}`;
  },
  errorEvent: named({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
  garbage: "event: content_block_delta\ndata: {{{{\n\n",
  begin: `${named(messageStart(few))}${textBlock("I was about")}`,
};
