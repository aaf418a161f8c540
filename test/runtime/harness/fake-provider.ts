import { createServer } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { completions } from "./pi/wires/completions.ts";
import { listen } from "../../helpers/listen.ts";

export interface SeenRequest {
  readonly path: string;
  readonly authorization: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly model?: string; readonly messages?: readonly { role: string }[] };
}

export interface FakeProvider {
  /** Base URL of an OpenAI-compatible API. */
  readonly baseUrl: string;
  readonly requests: readonly SeenRequest[];
  close(): Promise<void>;
}

type Answer = (request: SeenRequest, response: ServerResponse) => void;

/** A provider in trouble: an HTTP server on this machine that answers as the test says. */
export async function fakeProvider(answer: Answer): Promise<FakeProvider> {
  const requests: SeenRequest[] = [];
  const serve = async (incoming: IncomingMessage, response: ServerResponse) => {
    const body = (await json(incoming).catch(() => ({}))) as SeenRequest["body"];
    const { url = "", headers } = incoming;
    const seen = { path: url, authorization: headers.authorization ?? "", headers, body };
    requests.push(seen);
    answer(seen, response);
  };
  const server = createServer((incoming, response) => void serve(incoming, response));
  const port = await listen(server);
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Answers every request with a status and an error message, as the OpenAI API writes errors. */
export function refusing(status: number, message: string): Answer {
  return (_request, response) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message, type: "error" } }));
  };
}

/** Says one text and is done. */
export function saying(text: string): Answer {
  return (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(completions.stream({ kind: "text", text }));
  };
}
