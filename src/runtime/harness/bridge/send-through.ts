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
import { connectionHeaders } from "../../wire/http-proxy.ts";
import { maxModelAnswerBytes, problemHeader } from "../../../foundation/contracts/model-gateway.ts";
import { repeatWhileAway, unlessAway, type RunSocket } from "./while-away.ts";
import type { Watch } from "./exchanges.ts";

export interface Through {
  readonly body: Buffer;
  readonly runSocket: RunSocket;
  /** Observes the answer for the harness; undefined for the request of another client. */
  readonly watch: Watch | undefined;
  /** Called with the reason when the answer breaks off, before the client notices, which retries. */
  readonly onInterrupted: (message: string) => void;
}

const connections = new Agent({ keepAlive: true, maxSockets: Infinity });

/** Headers that are not forwarded: those of one connection, and those that the bridge sets itself. */
const ownHeaders = new Set([
  ...connectionHeaders,
  "authorization",
  "x-api-key",
  "x-goog-api-key",
  "host",
]);

/**
 * Sends a request to the scheduler and streams the answer back. Repeats the request while the scheduler is down and no
 * byte of an answer has arrived. Rejects if the scheduler stays down, and at once for an error that waiting doesn't
 * fix.
 */
export async function sendThrough(
  client: IncomingMessage,
  response: ServerResponse,
  through: Through,
): Promise<void> {
  const { watch } = through;
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  watch?.begin(response);
  const answer = await repeatWhileAway(through.runSocket, gone.signal, () =>
    attempt(client, through, gone.signal),
  );
  if (answer === null) return;
  watch?.onHead(answer);
  const { statusCode = 502, headers } = answer;
  response.writeHead(statusCode, passedOn(headers));
  response.flushHeaders();
  answer.once("error", () => {
    // A client that hung up lost nothing, and an answer that is too long is cut here.
    if (gone.signal.aborted || watch?.exchange.isTooLong === true) return;
    if (watch !== undefined) watch.exchange.isInterrupted = true;
    through.onInterrupted("the scheduler went away in the middle of the model's answer");
  });
  const sent =
    watch === undefined
      ? pipeline(answer, response, { end: false })
      : held(answer, response, watch);
  const isSent = await sent.then(
    () => true,
    () => false,
  );
  if (watch?.exchange.isTooLong === true) return void response.destroy();
  if (isSent && answer.trailers[problemHeader] === undefined) return void response.end();
  if (isSent) through.onInterrupted("the model's provider broke its answer off");
  response.destroy();
}

/**
 * Passes an answer on once it has ended: its trailer comes last, and clients hang up at the last event. Rejects if it
 * breaks off, after the client received the rest. An answer that is too long is dropped.
 */
async function held(
  answer: IncomingMessage,
  response: ServerResponse,
  watch: Watch,
): Promise<void> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      watch.onBytes();
      chunks.push(chunk);
      bytes += chunk.length;
      watch.exchange.isTooLong = bytes > maxModelAnswerBytes;
      if (watch.exchange.isTooLong) return void chunks.splice(0);
    }
    watch.onEnd(answer);
  } finally {
    await new Promise<void>((resolve) => response.write(Buffer.concat(chunks), () => resolve()));
  }
}

async function attempt(
  client: IncomingMessage,
  { body, runSocket: { socket, token } }: Through,
  signal: AbortSignal,
): Promise<IncomingMessage | null> {
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
  return unlessAway(answer);
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
  const passed = Object.entries(headers).filter(([name]) => !ownHeaders.has(name));
  return Object.fromEntries(passed);
}
