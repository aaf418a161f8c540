import { Agent, request } from "node:http";
import type {
  ClientRequest,
  IncomingHttpHeaders,
  IncomingMessage,
  OutgoingHttpHeaders,
  ServerResponse,
} from "node:http";
import { once } from "node:events";
import { pipeline } from "node:stream/promises";
import { setTimeout as wait } from "node:timers/promises";
import { hasCode, messageOf } from "../../errors.ts";

/** The run's way to the scheduler. */
export interface RunSocket {
  /** Path as this process sees it. */
  readonly socket: string;
  readonly token: string;
}

export interface Through {
  readonly body: Buffer;
  readonly runSocket: RunSocket;
  /** Called when the answer breaks off, before the client can see it: what the client does next may depend on it. */
  readonly onCut: () => void;
}

/** For how long a request waits for a scheduler that is away, in pauses: 60 s, without the time of a frozen container. */
const pauses = { count: 240, ms: 250 };

const connections = new Agent({ keepAlive: true, maxSockets: Infinity });

/** What counts for one connection alone, and what the bridge answers for itself. */
const ownHeaders = [
  "authorization",
  "x-api-key",
  "x-goog-api-key",
  "host",
  "connection",
  "expect",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/** Errors of a scheduler that is away, that went while it was asked, or whose queue of connections is full. */
const awayCodes = ["ECONNREFUSED", "ENOENT", "ECONNRESET", "EPIPE", "EAGAIN"];

/**
 * Sends a request to the scheduler and its answer back, as both come. While the scheduler is away and no byte of an
 * answer came, it is sent again. Rejects when the scheduler stays away, and at once for an error that waiting does not
 * change.
 */
export async function sendThrough(
  client: IncomingMessage,
  response: ServerResponse,
  through: Through,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const answer = await firstAnswer(client, through, gone.signal);
  if (answer === null) return;
  const { statusCode = 502, headers } = answer;
  response.writeHead(statusCode, passedOn(headers));
  response.flushHeaders();
  answer.once("error", () => {
    // A client that hung up lost nothing.
    if (!gone.signal.aborted) through.onCut();
  });
  await pipeline(answer, response).catch(() => undefined);
}

/** Null when the client hung up before. */
async function firstAnswer(
  client: IncomingMessage,
  through: Through,
  signal: AbortSignal,
): Promise<IncomingMessage | null> {
  let last: unknown = null;
  for (let count = 0; count < pauses.count; count += 1) {
    if (signal.aborted) return null;
    try {
      const answer = await attempt(client, through, signal);
      if (!isAway(answer)) return answer;
      answer.resume();
    } catch (error) {
      if (!hasCode(error, ...awayCodes)) throw unusable(through, error);
      last = error;
    }
    await wait(pauses.ms, undefined, { signal }).catch(() => undefined);
  }
  const waitedSeconds = (pauses.count * pauses.ms) / 1000;
  const text = `the scheduler did not come back within ${waitedSeconds} s`;
  throw new Error(text, { cause: last });
}

function unusable({ runSocket: { socket } }: Through, cause: unknown): Error {
  const text = `the run socket ${socket} gave no usable answer: ${messageOf(cause)}`;
  return new Error(text, { cause });
}

async function attempt(
  client: IncomingMessage,
  { body, runSocket: { socket, token } }: Through,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const sent: ClientRequest = request({
    socketPath: socket,
    path: client.url,
    method: client.method,
    headers: headersFor(client, body, token),
    agent: connections,
    signal,
  });
  sent.end(body);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return answer;
}

function headersFor(client: IncomingMessage, body: Buffer, token: string): OutgoingHttpHeaders {
  return {
    ...passedOn(client.headers),
    host: "scheduler",
    authorization: `Bearer ${token}`,
    "content-length": body.length,
  };
}

function passedOn(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const passed = Object.entries(headers).filter(([name]) => !ownHeaders.includes(name));
  return Object.fromEntries(passed);
}

/** The scheduler's own word that it is starting or stopping; a provider's 503 has another type. */
function isAway({ statusCode, headers }: IncomingMessage): boolean {
  return (
    statusCode === 503 && (headers["content-type"] ?? "").startsWith("application/problem+json")
  );
}
