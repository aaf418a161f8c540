import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import type { Program } from "./play.ts";

/** What a provider does wrong with each request: a status, or `loop`, the same tool called again and again. */
export type Fault = "none" | number | "cut" | "silent" | "loop";

export interface FailingProvider {
  readonly baseUrl: string;
  /** Bodies of the requests for an answer of the model. */
  readonly requests: readonly string[];
}

/** The API that the command line speaks, on this machine. */
export async function failingProvider(program: Program, fault: Fault): Promise<FailingProvider> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      if (!isForAnswer(request)) return void response.writeHead(404).end("{}");
      requests.push(body);
      fail(program, fault, response, requests.length);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}`, requests };
}

function isForAnswer({ method, url = "" }: IncomingMessage): boolean {
  return (
    method === "POST" && /\/(messages|responses|[^/]+:(streamG|g)enerateContent)(\?|$)/.test(url)
  );
}

function fail(program: Program, fault: Fault, response: ServerResponse, count: number): void {
  if (fault === "silent") return;
  if (typeof fault === "number") {
    response.writeHead(fault, { "content-type": "application/json" });
    const error = { code: fault, type: "some_error", message: `refused with ${fault}` };
    return void response.end(JSON.stringify({ type: "error", error }));
  }
  const [begin, end] = answers[program](fault === "loop" ? `call-${count}` : null);
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(begin);
  if (fault === "cut") setTimeout(() => response.destroy(), 50);
  else response.end(end);
}

type Answer = readonly [begin: string, end: string];

const events = (list: readonly object[]): string =>
  list
    .map((event) => {
      const name = "type" in event ? `event: ${String(event.type)}\n` : "";
      return `${name}data: ${JSON.stringify(event)}\n\n`;
    })
    .join("");

/** An answer in two halves, with a call of a tool where an id for it is given. */
const answers: Readonly<Record<Program, (tool: string | null) => Answer>> = {
  claude: (tool) => {
    const usage = { input_tokens: 100, output_tokens: 1 };
    const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [] };
    const block =
      tool === null
        ? { type: "text", text: "" }
        : { type: "tool_use", id: tool, name: "Bash", input: {} };
    const delta =
      tool === null
        ? { type: "text_delta", text: "Hello." }
        : { type: "input_json_delta", partial_json: '{"command":"true","description":"x"}' };
    const started = { ...message, usage, stop_reason: null, stop_sequence: null };
    const stop = { stop_reason: tool === null ? "end_turn" : "tool_use", stop_sequence: null };
    return [
      events([
        { type: "message_start", message: started },
        { type: "content_block_start", index: 0, content_block: block },
        { type: "content_block_delta", index: 0, delta },
      ]),
      events([
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: stop, usage: { output_tokens: 20 } },
        { type: "message_stop" },
      ]),
    ];
  },
  codex: (tool) => {
    const response = { id: "resp_1", status: "in_progress", output: [], usage: null };
    const item =
      tool === null
        ? {
            ...{ id: "msg_1", type: "message", role: "assistant", status: "completed" },
            content: [{ type: "output_text", text: "Hello.", annotations: [] }],
          }
        : {
            ...{ id: tool, call_id: tool, type: "function_call", name: "exec_command" },
            arguments: '{"cmd":"true"}',
          };
    const usage = {
      ...{ input_tokens: 100, output_tokens: 20, total_tokens: 120 },
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    };
    const completed = { ...response, status: "completed", output: [item], usage };
    return [
      events([{ type: "response.created", response }]),
      events([
        { type: "response.output_item.done", output_index: 0, item },
        { type: "response.completed", response: completed },
      ]),
    ];
  },
  gemini: (tool) => {
    const part =
      tool === null
        ? { text: "Hello." }
        : { functionCall: { name: "run_shell_command", args: { command: "true" } } };
    const candidate = { index: 0, content: { role: "model", parts: [part] } };
    const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 20, totalTokenCount: 120 };
    const last = { ...candidate, content: { role: "model", parts: [{ text: "" }] } };
    return [
      events([{ candidates: [candidate] }]),
      events([{ candidates: [{ ...last, finishReason: "STOP" }], usageMetadata }]),
    ];
  },
};
