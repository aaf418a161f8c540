import { Agent, request, type IncomingMessage } from "node:http";
import { createParser } from "eventsource-parser";
import { Problem, hasCode, messageOf } from "../../../foundation/errors.ts";
import { requestOf } from "../../../foundation/operation.ts";
import type { InputOf, OutputOf } from "../../../foundation/operation.ts";
import type { NamedOperations } from "../../operations/table.ts";

/** One Server-Sent Event. */
interface StreamEvent {
  readonly event: string;
  /** The last id seen on the stream, empty without one. */
  readonly id: string;
  readonly data: string;
}

/** The longest event that is accepted, in characters: the scheduler sends none that is larger. */
const maxEventLength = 4 * 1024 * 1024;

/** Reads Server-Sent Events from UTF-8 bytes, however they are cut; an unfinished event at the end is dropped. */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StreamEvent> {
  const events: StreamEvent[] = [];
  let lastId = "";
  const parser = createParser({
    maxBufferSize: maxEventLength,
    onEvent: ({ event = "message", id = lastId, data }) => {
      lastId = id;
      events.push({ event, id, data });
    },
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") throw error;
    },
  });
  const decoder = new TextDecoder();
  for await (const chunk of chunks) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* events.splice(0);
  }
}

/** How long a scheduler may take to answer, in ms, before it counts as hung. */
const defaultTimeoutMs = 15_000;

type Headers = Readonly<Record<string, string>>;

interface RequestOptions {
  readonly timeoutMs?: number;
  readonly headers?: Headers;
}

export type Client = ReturnType<typeof operatorClient>;

/** A client of the operator API on the project's Unix socket. Answers are trusted to match the schema of their route. */
export function operatorClient(socketPath: string, apiKey: string) {
  /** The answer of the scheduler. Throws a Problem with the problem document's `error` as its code. */
  const ask = async (
    method: "GET" | "POST",
    path: string,
    options: { readonly signal: AbortSignal; readonly headers: Headers },
    body?: unknown,
  ): Promise<IncomingMessage> => {
    const { signal, headers } = options;
    const sent = request({
      method,
      path,
      socketPath,
      signal,
      // A new connection: a kept one would hold the command open.
      agent: new Agent({ keepAlive: false }),
      headers: {
        host: "localhost",
        authorization: `Bearer ${apiKey}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
    }).end(body === undefined ? "" : JSON.stringify(body));
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      sent.once("response", resolve);
      sent.once("error", (error) => reject(connectionError(error)));
    });
    const { statusCode: status = 500 } = answer;
    if (status >= 400) throw problemError(status, await jsonOf(answer));
    return answer;
  };
  const exchange = async (
    method: "GET" | "POST",
    path: string,
    body?: unknown,
    { timeoutMs = defaultTimeoutMs, headers = {} }: RequestOptions = {},
  ): Promise<unknown> => {
    const accepted = { accept: "application/json", ...headers };
    const options = { headers: accepted, signal: AbortSignal.timeout(timeoutMs) };
    return jsonOf(await ask(method, path, options, body));
  };
  return {
    /** Performs an operation. */
    perform: async <Address extends keyof NamedOperations>(
      address: Address,
      input: InputOf<NamedOperations[Address]>,
      options?: RequestOptions,
    ): Promise<OutputOf<NamedOperations[Address]>> => {
      const { method, path, body } = requestOf(address, input);
      const answer = await exchange(method, path, body, options);
      return answer as OutputOf<NamedOperations[Address]>;
    },
    get: (path: string) => exchange("GET", path),
    post: (path: string, body: unknown = {}, options?: RequestOptions) =>
      exchange("POST", path, body, options),
    /** Server-Sent Events after `lastId`, until the server ends the stream or the signal aborts it. */
    events: async function* (path: string, signal: AbortSignal, lastId: string | undefined) {
      const resumed = lastId === undefined ? {} : { "last-event-id": lastId };
      const headers = { accept: "text/event-stream", ...resumed };
      const answer = await ask("GET", path, { signal, headers });
      yield* readEvents(answer as AsyncIterable<Uint8Array>);
    },
  };
}

/** Null for text that is not JSON. */
async function jsonOf(answer: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of answer) chunks.push(chunk as Buffer);
  } catch (error) {
    throw connectionError(error as Error);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    return null;
  }
}

/** Why no answer came. Code `not_running` means that no process listens on the socket. */
function connectionError(error: NodeJS.ErrnoException): Problem {
  const because = (code: string, message: string, hint?: string): Problem =>
    new Problem(code, message, { cause: error, hint });
  if (hasCode(error, "ECONNREFUSED", "ENOENT")) {
    return because("not_running", "the scheduler no longer responds");
  }
  if (hasCode(error, "EACCES", "EPERM")) {
    const hint = "use the OS user that started it";
    return because("no_access", "the scheduler belongs to another OS user", hint);
  }
  const { cause } = error;
  if ([error, cause].some((each) => each instanceof Error && each.name === "TimeoutError")) {
    const hint = "see the scheduler's own log for what keeps it busy";
    return because("no_answer", "the scheduler did not answer in time", hint);
  }
  return because("disconnected", `the scheduler closed the connection: ${messageOf(error)}`);
}

/** A problem document (RFC 9457 with `error`, a short stable code) as an error for a person. */
function problemError(status: number, problem: unknown): Problem {
  const { error, detail, title } = (problem ?? {}) as Record<string, unknown>;
  const code = typeof error === "string" ? error : "unexpected_answer";
  const known = [detail, title].find((text) => typeof text === "string");
  const message = known ?? `the scheduler answered with status ${status}`;
  return new Problem(code, message, hints[code]);
}

const hints: Readonly<Record<string, string | undefined>> = {
  unauthorized: "the API key changed after the scheduler started; is AL_HOME the same for both?",
  draining: "the scheduler is stopping; start it again with al start",
};
