import { request as httpRequest } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { EgressPolicy } from "../../../foundation/contracts/egress.ts";
import { proxyLogin } from "../../../foundation/contracts/http-proxy.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { admit } from "./admit.ts";
import type { AdmitDeps, Way } from "./admit.ts";
import type { Attempt } from "./attempt.ts";
import { bracketed } from "../../../foundation/contracts/host-and-port.ts";
import { parseAuthority, tlsPort } from "./authority.ts";
import type { Authority } from "./authority.ts";
import { assertNoSentinel, bodyWithoutSentinel } from "./broker/plain-request.ts";
import { EgressRefusal } from "./decide.ts";
import { requestLines, responseLines } from "./forward-headers.ts";

export interface ForwardedRequest {
  readonly attempt: Attempt;
  readonly target: HttpTarget;
  readonly policy: EgressPolicy;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Aborts at the end of the run. */
  readonly signal: AbortSignal;
}

const httpPort = 80;
/** How long a host may send nothing, in ms. */
const idleMs = 5 * 60_000;
/** A fragment is no part of a request, and userinfo hides what the host is. */
const absoluteForm = /^http:\/\/(?<authority>[^/?#@\\]+)(?<path>\/[^#]*)?$/i;

/** What a request with a whole address is for. */
export interface HttpTarget {
  readonly asked: Authority;
  readonly path: string;
}

/** Reads `http://host/path`; null for anything else. */
export function parseHttpTarget(url: string): HttpTarget | null {
  const { authority = "", path = "/" } = absoluteForm.exec(url)?.groups ?? {};
  const asked = parseAuthority(authority, httpPort);
  return asked === null ? null : { asked, path };
}

/**
 * Sends a request with a whole address on to its host, over a connection of its own, and the answer back as it is:
 * redirects are the client's to follow, and to ask for again. Rejects with an `EgressRefusal`.
 */
export async function forwardRequest(
  { attempt, target: { asked, path }, policy, request, response, signal }: ForwardedRequest,
  deps: AdmitDeps,
): Promise<void> {
  const { instanceId } = attempt;
  const way = await admit(policy, asked, "http", { instanceId, signal }, deps);
  if (asked.port === tlsPort) throw new EgressRefusal("no_tls", asked);
  const lines = requestLines(request.rawHeaders);
  if (lines === null) throw new EgressRefusal("malformed", asked);
  assertNoSentinel(request, asked, path);
  const socket = await (way.httpProxy ?? way).dial(signal);
  attempt.bytes = () => ({ bytesOut: socket.bytesWritten, bytesIn: socket.bytesRead });
  try {
    const sent = sentRequest(asked, path, way);
    await exchange(
      request,
      bodyWithoutSentinel(request, asked),
      response,
      { ...sent, lines: [...sent.lines, ...lines] },
      socket,
      signal,
    );
  } catch (error) {
    // The client hung up, or has part of the answer.
    if (response.headersSent || response.destroyed || signal.aborted) response.destroy();
    else if (error instanceof EgressRefusal) throw error;
    else throw new EgressRefusal("unreachable", asked, { more: messageOf(error) });
  } finally {
    socket.destroy();
    // What is left of its body must not hold up the next request of its connection.
    request.resume();
  }
}

/** What a host or a proxy is asked for. */
interface SentRequest {
  readonly path: string;
  /** Names and values in turn. */
  readonly lines: readonly string[];
}

function sentRequest({ host, port }: Authority, path: string, { httpProxy }: Way): SentRequest {
  const name = port === httpPort ? bracketed(host) : `${bracketed(host)}:${port}`;
  const lines = ["host", name];
  if (httpProxy === null) return { path, lines };
  const login = proxyLogin(httpProxy.url);
  if (login !== null) lines.push("proxy-authorization", login);
  return { path: `http://${name}${path}`, lines };
}

async function exchange(
  { method = "GET" }: IncomingMessage,
  body: Readable,
  response: ServerResponse,
  { path, lines: headers }: SentRequest,
  socket: Socket,
  signal: AbortSignal,
): Promise<void> {
  const sent = httpRequest({ method, path, headers, createConnection: () => socket });
  const { promise: answered, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  sent.once("response", resolve).on("error", reject);
  socket.setTimeout(idleMs, () => socket.destroy(new Error("it sent nothing for too long")));
  const hangUp = (): void => void socket.destroy();
  signal.addEventListener("abort", hangUp, { once: true });
  response.once("close", hangUp);
  body.on("error", reject).pipe(sent);
  const answer = await answered;
  response.sendDate = false;
  response.writeHead(
    answer.statusCode ?? 502,
    answer.statusMessage,
    responseLines(answer.rawHeaders),
  );
  await pipeline(answer, response);
}
