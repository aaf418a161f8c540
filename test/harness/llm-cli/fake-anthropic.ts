import { createServer } from "node:http";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { json } from "node:stream/consumers";

/** What the fake says in one turn: a text, a tool call, or an error. */
export interface AnthropicTurn {
  readonly text?: string;
  readonly tool?: { readonly name: string; readonly input: object };
  readonly status?: number;
}

export interface AnthropicRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: {
    readonly model?: string;
    readonly system?: unknown;
    readonly messages?: readonly { readonly role: string; readonly content: unknown }[];
  };
}

export interface FakeAnthropic {
  /** The value of `ANTHROPIC_BASE_URL`. */
  readonly baseUrl: string;
  /** Requests for messages only. */
  readonly requests: readonly AnthropicRequest[];
  close(): Promise<void>;
}

/** Anthropic's Messages API on this machine: the number of answers so far picks the turn, as in a script. */
export async function fakeAnthropic(turns: readonly AnthropicTurn[]): Promise<FakeAnthropic> {
  const requests: AnthropicRequest[] = [];
  const server = createServer((incoming, response) => {
    void json(incoming)
      .catch(() => ({}))
      .then((parsed) => {
        if (!(incoming.url ?? "").startsWith("/v1/messages?") && incoming.url !== "/v1/messages") {
          return void response.writeHead(404).end("{}");
        }
        const body = parsed as AnthropicRequest["body"];
        requests.push({ headers: incoming.headers, body });
        const index = (body.messages ?? []).filter(({ role }) => role === "assistant").length;
        answer(turns[index] ?? { text: "(nothing more to say)" }, body.model ?? "", response);
      });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer({ text, tool, status }: AnthropicTurn, model: string, response: ServerResponse) {
  if (status !== undefined) {
    response.writeHead(status, { "content-type": "application/json" });
    const error = { type: "some_error", message: `refused with ${status}` };
    return void response.end(JSON.stringify({ type: "error", error }));
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (type: string, data: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  const usage = { input_tokens: 100, output_tokens: 1 };
  const message = { id: "msg_1", type: "message", role: "assistant", model, content: [], usage };
  send("message_start", { message: { ...message, stop_reason: null, stop_sequence: null } });
  let index = 0;
  if (text !== undefined) {
    send("content_block_start", { index, content_block: { type: "text", text: "" } });
    send("content_block_delta", { index, delta: { type: "text_delta", text } });
    send("content_block_stop", { index });
    index += 1;
  }
  if (tool !== undefined) {
    const block = { type: "tool_use", id: `toolu_${Date.now()}`, name: tool.name, input: {} };
    send("content_block_start", { index, content_block: block });
    const partial_json = JSON.stringify(tool.input);
    send("content_block_delta", { index, delta: { type: "input_json_delta", partial_json } });
    send("content_block_stop", { index });
  }
  const stop_reason = tool === undefined ? "end_turn" : "tool_use";
  send("message_delta", {
    delta: { stop_reason, stop_sequence: null },
    usage: { output_tokens: 20 },
  });
  send("message_stop", {});
  response.end();
}
