import { endingOf, named, refusalText } from "./wire-format.ts";
import type { Billed, Ending, NamedEvent, WireFormat } from "./wire-format.ts";

const few: Billed = { usage: { input_tokens: 10, output_tokens: 2, total_tokens: 12 } };

const responseEnd = (status: string, reason: string | null, { usage, tier }: Billed) => {
  const details = reason === null ? null : { reason };
  const type = status === "completed" ? "response.completed" : "response.incomplete";
  return {
    type,
    response: {
      id: "r1",
      status,
      output: [],
      incomplete_details: details,
      usage,
      service_tier: tier ?? null,
    },
  };
};

const responseEndings: Record<Ending, readonly [status: string, reason: string | null]> = {
  normal: ["completed", null],
  cut: ["incomplete", "max_output_tokens"],
  filter: ["incomplete", "content_filter"],
  unknown: ["incomplete", "vanished"],
};

const responseMessage = (content: readonly object[]) => ({
  type: "message",
  id: "msg1",
  role: "assistant",
  status: "completed",
  content,
});

export const responses: WireFormat = {
  stream: (reply, billed = few) => {
    const end = named(responseEnd(...responseEndings[endingOf(reply)], billed));
    if (reply.kind === "tool") {
      const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: "bash" };
      const done = { ...call, arguments: JSON.stringify({ command: reply.command }) };
      return `${item({ ...call, arguments: "" }, done)}${end}`;
    }
    if (reply.kind === "refusal") {
      const done = responseMessage([{ type: "refusal", refusal: refusalText }]);
      const delta = {
        type: "response.refusal.delta",
        output_index: 0,
        content_index: 0,
        delta: refusalText,
      };
      return `${item(responseMessage([]), done, delta)}${end}`;
    }
    if (reply.text === "") return end;
    const text = [{ type: "output_text", text: reply.text, annotations: [] }];
    return `${item(responseMessage([]), responseMessage(text))}${end}`;
  },
  errorEvent: named({ type: "error", code: "server_error", message: "The server had an error" }),
  garbage: "event: response.output_text.delta\ndata: {{{{\n\n",
  begin: named({ type: "response.output_item.added", output_index: 0, item: responseMessage([]) }),
};

function item(added: object, done: object, ...between: readonly NamedEvent[]) {
  return named({ type: "response.output_item.added", output_index: 0, item: added }, ...between, {
    type: "response.output_item.done",
    output_index: 0,
    item: done,
  });
}
