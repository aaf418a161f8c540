import { callsOf, named, piecesOf, refusalText, textOf, wordFor } from "./wire-format.ts";
import type { Ending, NamedEvent, WireFormat } from "./wire-format.ts";

const few = { input_tokens: 10, output_tokens: 2, total_tokens: 12 };

/** Why a response is incomplete; null for one that is complete. */
const endings: Readonly<Record<Ending, string | null>> = {
  normal: null,
  cut: "max_output_tokens",
  filter: "content_filter",
  unknown: "vanished",
};

const responseMessage = (content: readonly object[]) => ({
  type: "message",
  id: "msg1",
  role: "assistant",
  status: "completed",
  content,
});

/** An item of the output, with the events of its parts. */
function item(index: number, added: object, done: object, deltas: readonly NamedEvent[] = []) {
  return named(
    { type: "response.output_item.added", output_index: index, item: added },
    ...deltas.map((delta) => ({ ...delta, output_index: index, content_index: 0 })),
    { type: "response.output_item.done", output_index: index, item: done },
  );
}

export const responses: WireFormat = {
  stream: (reply, usage = few) => {
    const reason = wordFor(reply, null, endings);
    const status = reason === null ? "completed" : "incomplete";
    const incomplete_details = reason && { reason };
    const response = {
      id: "r1",
      status,
      output: [],
      incomplete_details,
      usage,
    };
    const end = named({ type: `response.${status}`, response });
    if (reply.kind === "refusal") {
      const done = responseMessage([{ type: "refusal", refusal: refusalText }]);
      const delta = { type: "response.refusal.delta", delta: refusalText };
      return `${item(0, responseMessage([]), done, [delta])}${end}`;
    }
    const text = textOf(reply);
    const said = responseMessage([{ type: "output_text", text, annotations: [] }]);
    const calls = callsOf(reply).map((call, index) => {
      const { id, name, json } = call;
      const begun = { type: "function_call", id: `fc_${id}`, call_id: id, name };
      const type = "response.function_call_arguments.delta";
      const deltas = piecesOf(call).map((delta) => ({ type, delta }));
      return item(index, { ...begun, arguments: "" }, { ...begun, arguments: json }, deltas);
    });
    return `${text === "" ? calls.join("") : item(0, responseMessage([]), said)}${end}`;
  },
  errorEvent: named({ type: "error", code: "server_error", message: "The server had an error" }),
  garbage: "event: response.output_text.delta\ndata: {{{{\n\n",
  begin: named({ type: "response.output_item.added", output_index: 0, item: responseMessage([]) }),
};
