import { endingOf, named, textOf } from "./wire-format.ts";
import type { Billed, Ending, WireFormat } from "./wire-format.ts";

const few: Billed = { usage: { input_tokens: 10, output_tokens: 2 } };

/** The first event has the output so far. */
const messageStart = ({ usage } = few) => ({
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

const messageEndings: Record<Ending, string> = {
  normal: "end_turn",
  cut: "max_tokens",
  filter: "sensitive",
  unknown: "vanished",
};

const messageText = (text: string) =>
  named(
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
  );

export const messages: WireFormat = {
  stream: (reply, billed = few) => {
    const reason =
      reply.kind === "refusal"
        ? "refusal"
        : reply.kind === "tool"
          ? "tool_use"
          : messageEndings[endingOf(reply)];
    const text = textOf(reply);
    const stop = named({ type: "content_block_stop", index: 0 });
    const content =
      reply.kind === "tool"
        ? `${toolUse(reply.command)}${stop}`
        : text === ""
          ? ""
          : `${messageText(text)}${stop}`;
    const end = named(
      {
        type: "message_delta",
        delta: { stop_reason: reason },
        usage: { output_tokens: billed.usage.output_tokens },
      },
      { type: "message_stop" },
    );
    return `${named(messageStart(billed))}${content}${end}`;
  },
  errorEvent: named({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
  garbage: "event: content_block_delta\ndata: {{{{\n\n",
  begin: `${named(messageStart())}${messageText("I was about")}`,
};

function toolUse(command: string): string {
  const delta = { type: "input_json_delta", partial_json: JSON.stringify({ command }) };
  const tool = { type: "tool_use", id: "toolu_1", name: "bash", input: {} };
  return named(
    { type: "content_block_start", index: 0, content_block: tool },
    { type: "content_block_delta", index: 0, delta },
  );
}
