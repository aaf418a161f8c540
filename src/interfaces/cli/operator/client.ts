import { Agent, request } from "node:http";
import type { ClientRequest, IncomingMessage } from "node:http";
import { UserError, hasCode, messageOf } from "../../../foundation/errors.ts";
import { createParser } from "eventsource-parser";

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

/** The scheduler's operator API. Answers are trusted to have the shape that the route is decided to have. */
export interface Client {
  /** The JSON of a GET. Throws UserError with the problem document's `error` as its code. */
  readonly get: (path: string) => Promise<unknown>;
  /** `timeoutMs` is 15 s unless given. */
  readonly post: (path: string, body?: unknown, timeoutMs?: number) => Promise<unknown>;
  /** Server-Sent Events until the server ends the stream or the signal aborts it. */
  readonly events: (path: string, options: EventOptions) => AsyncIterable<StreamEvent>;
}

export interface EventOptions {
  readonly signal: AbortSignal;
  /** Resumes after this event. */
  readonly lastEventId?: string | undefined;
}

export interface Address {
  readonly socketPath: string;
  readonly apiKey: string;
}

/** How long a scheduler may take to answer, in milliseconds, before it counts as hung. */
const defaultTimeoutMs = 15_000;

/** A client of the operator API on the project's Unix socket. */
export function operatorClient(address: Address): Client {
  return {
    get: (path) => exchange(address, { method: "GET", path }),
    post: (path, body, timeoutMs) =>
      exchange(address, { method: "POST", path, body: body ?? {}, timeoutMs }),
    events: (path, options) => openStream(address, path, options),
  };
}

interface Question {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly body?: string;
}

/** The answer of the scheduler. Throws a UserError for a problem document. */
async function ask(address: Address, { headers, body, ...question }: Question) {
  const { socketPath, apiKey } = address;
  const sent = request({
    ...question,
    socketPath,
    // A connection of its own: a kept one would hold the command open.
    agent: new Agent({ keepAlive: false }),
    headers: { host: "localhost", authorization: `Bearer ${apiKey}`, ...headers },
  });
  const answer = await answerOf(sent.end(body));
  const { statusCode: status = 500 } = answer;
  if (status >= 400) throw problemError(status, parseJson(await textOf(answer)));
  return answer;
}

interface Exchange {
  readonly method: Question["method"];
  readonly path: string;
  readonly body?: unknown;
  readonly timeoutMs?: number | undefined;
}

async function exchange(
  address: Address,
  { method, path, body, timeoutMs = defaultTimeoutMs }: Exchange,
): Promise<unknown> {
  const signal = AbortSignal.timeout(timeoutMs);
  const headers: Record<string, string> = { accept: "application/json" };
  if (body !== undefined) headers["content-type"] = "application/json";
  const text = body === undefined ? "" : JSON.stringify(body);
  const answer = await ask(address, { method, path, headers, signal, body: text });
  return parseJson(await textOf(answer));
}

async function* openStream(
  address: Address,
  path: string,
  { signal, lastEventId }: EventOptions,
): AsyncGenerator<StreamEvent> {
  const headers: Record<string, string> = { accept: "text/event-stream" };
  if (lastEventId !== undefined) headers["last-event-id"] = lastEventId;
  const answer = await ask(address, { method: "GET", path, headers, signal });
  yield* readEvents(answer as AsyncIterable<Uint8Array>);
}

function answerOf(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once("response", resolve);
    sent.once("error", (error) => reject(connectionError(error)));
  });
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of answer) chunks.push(chunk as Buffer);
  } catch (error) {
    throw connectionError(error as Error);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Why no answer came. Code `not_running` means that no process listens on the socket. */
function connectionError(error: NodeJS.ErrnoException): UserError {
  const because = (code: string, message: string, hint?: string): UserError =>
    new UserError(code, message, hint === undefined ? { cause: error } : { cause: error, hint });
  if (hasCode(error, "ECONNREFUSED", "ENOENT")) {
    return because("not_running", "the scheduler does not answer any more");
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
  return because("disconnected", `the scheduler hung up: ${messageOf(error)}`);
}

/** A problem document (RFC 9457 with `error`, a short stable code) as an error for a person. */
function problemError(status: number, problem: unknown): UserError {
  const { error, detail, title } = (problem ?? {}) as Record<string, unknown>;
  const code = typeof error === "string" ? error : "unexpected_answer";
  const known = [detail, title].find((text) => typeof text === "string");
  const message = known ?? `the scheduler answered with status ${status}`;
  const hint = hints[code];
  return new UserError(code, message, hint === undefined ? {} : { hint });
}

const hints: Readonly<Record<string, string | undefined>> = {
  unauthorized: "the API key changed after the scheduler started; is AL_HOME the same for both?",
  draining: "the scheduler is stopping; start it again with al start",
};
