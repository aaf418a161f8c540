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
import { connectionHeaders } from "../../../foundation/contracts/http-proxy.ts";
import { problemHeader } from "../../../foundation/contracts/model-address.ts";
import { repeatWhileAway, unlessAway } from "./while-away.ts";
import type { RunSocket } from "./while-away.ts";

export interface Through {
  readonly body: Buffer;
  readonly runSocket: RunSocket;
  /** Called when the scheduler breaks off, before the client can see it: what the client does next may depend on it. */
  readonly onCut: () => void;
  /** Called when the provider breaks off, which is for the client to retry. */
  readonly onBroken: () => void;
}

const connections = new Agent({ keepAlive: true, maxSockets: Infinity });

/** What counts for one connection alone, and what the bridge answers for itself. */
const ownHeaders = new Set([
  ...connectionHeaders,
  ...["authorization", "x-api-key", "x-goog-api-key", "host"],
]);

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
  const answer = await repeatWhileAway(through.runSocket, gone.signal, () =>
    attempt(client, through, gone.signal),
  );
  if (answer === null) return;
  const { statusCode = 502, headers } = answer;
  response.writeHead(statusCode, passedOn(headers));
  response.flushHeaders();
  answer.once("error", () => {
    // A client that hung up lost nothing.
    if (!gone.signal.aborted) through.onCut();
  });
  const isSent = await pipeline(answer, response, { end: false }).then(
    () => true,
    () => false,
  );
  if (isSent && answer.trailers[problemHeader] === undefined) return void response.end();
  if (isSent) through.onBroken();
  response.destroy();
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
