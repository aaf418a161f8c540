import { Agent, request } from "node:http";
import type {
  ClientRequest,
  IncomingMessage,
  OutgoingHttpHeaders,
  ServerResponse,
} from "node:http";
import { once } from "node:events";
import { pipeline } from "node:stream/promises";
import { setTimeout as wait } from "node:timers/promises";

/** The run's way to the scheduler. */
export interface RunSocket {
  /** Path as this process sees it. */
  readonly socket: string;
  readonly token: string;
}

export interface Through {
  readonly body: Buffer;
  readonly runSocket: RunSocket;
}

/** For how long a request waits for a scheduler that is away, in pauses: 60 s, without the time of a frozen container. */
const pauses = { count: 240, ms: 250 };

const connections = new Agent({ keepAlive: true, maxSockets: Infinity });

/** What counts between the client and the bridge alone. */
const ownHeaders = [
  "authorization",
  "x-api-key",
  "x-goog-api-key",
  "host",
  "connection",
  "transfer-encoding",
];

/**
 * Sends a request to the scheduler and its answer back, as both come. While no byte of an answer came, it is sent
 * again. Resolves to false when the answer broke off; rejects when the scheduler stays away.
 */
export async function sendThrough(
  client: IncomingMessage,
  response: ServerResponse,
  through: Through,
): Promise<boolean> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const answer = await firstAnswer(client, through, gone.signal);
  if (answer === null) return true;
  const { statusCode = 502, headers } = answer;
  response.writeHead(statusCode, headers);
  response.flushHeaders();
  let isCut = false;
  // A client that hung up lost nothing.
  answer.once("error", () => (isCut = !gone.signal.aborted));
  await pipeline(answer, response).catch(() => undefined);
  return !isCut;
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
      last = error;
    }
    await wait(pauses.ms, undefined, { signal }).catch(() => undefined);
  }
  throw new Error("the scheduler did not come back in time", { cause: last });
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
  const passed = Object.entries(client.headers).filter(([name]) => !ownHeaders.includes(name));
  return {
    ...Object.fromEntries(passed),
    host: "scheduler",
    authorization: `Bearer ${token}`,
    "content-length": body.length,
  };
}

/** The scheduler's own word that it is starting or stopping; a provider's 503 has another type. */
function isAway({ statusCode, headers }: IncomingMessage): boolean {
  return (
    statusCode === 503 && (headers["content-type"] ?? "").startsWith("application/problem+json")
  );
}
