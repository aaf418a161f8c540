import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { EgressPolicy } from "../../../foundation/contracts/network-allow.ts";
import { proxyLogin } from "../../wire/http-proxy.ts";
import { hangUpSignal } from "../model-gateway/read-on.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { admit, type AdmitDeps, type Way } from "./admit.ts";
import { bracketed } from "../../../foundation/contracts/deny-reasons.ts";
import { EgressRefusal, parseAuthority, tlsPort, type Attempt, type Authority } from "./decide.ts";
import { answerTo, passAnswer } from "./broker/exchange.ts";
import { assertNoSentinel } from "./broker/sentinel-guard.ts";
import { requestLines } from "./forward-headers.ts";

interface ForwardedRequest {
  readonly attempt: Attempt;
  /** Path and query. */
  readonly path: string;
  readonly policy: EgressPolicy;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Aborts at the end of the run. */
  readonly signal: AbortSignal;
}

const httpPort = 80;
/** How long a host may send nothing, in ms. */
const silentMs = 5 * 60_000;
/** Rejects fragments, which do not belong in a request, and userinfo, which can disguise the host. */
const absoluteForm = /^http:\/\/(?<authority>[^/?#@\\]+)(?<path>\/[^#]*)?$/i;

/** Reads `http://host/path`; null for anything else. */
export function parseHttpTarget(url: string) {
  const { authority = "", path = "/" } = absoluteForm.exec(url)?.groups ?? {};
  const asked = parseAuthority(authority, httpPort);
  return asked === null ? null : { asked, path };
}

/**
 * Forwards a request with an absolute URL to its host over a new connection, and the answer back unchanged: the client
 * follows redirects by new requests. Rejects with an `EgressRefusal`.
 */
export async function forwardRequest(
  { attempt, path, policy, request, response, signal }: ForwardedRequest,
  deps: AdmitDeps,
): Promise<void> {
  const { instanceId, asked } = attempt;
  const until = AbortSignal.any([signal, hangUpSignal(response)]);
  const way = await admit(policy, asked, "http", { instanceId, signal: until }, deps);
  if (asked.port === tlsPort) throw new EgressRefusal("no_tls", asked);
  const lines = requestLines(request.rawHeaders);
  if (lines === null) throw new EgressRefusal("malformed", asked);
  assertNoSentinel(request, asked, path);
  const socket = await (way.httpProxy ?? way).dial(signal);
  attempt.bytes = () => ({ bytesOut: socket.bytesWritten, bytesIn: socket.bytesRead });
  const hangUp = (): void => void socket.destroy();
  signal.addEventListener("abort", hangUp, { once: true });
  response.once("close", hangUp);
  const { method = "GET" } = request;
  const target = targetOf(asked, path, way);
  try {
    const sent = httpRequest({
      method,
      path: target.path,
      headers: [...target.lines, ...lines],
      createConnection: () => socket,
    });
    const refusal = () => new EgressRefusal("sentinel", asked, "in the body");
    const answer = await answerTo(sent, request, refusal, { silentMs });
    await passAnswer(answer, response, { masks: [], isHead: method === "HEAD" });
  } catch (error) {
    // The client hung up, or has part of the answer.
    if (response.headersSent || response.destroyed || signal.aborted) response.destroy();
    else if (error instanceof EgressRefusal) throw error;
    else throw new EgressRefusal("unreachable", asked, messageOf(error));
  } finally {
    socket.destroy();
    // Discards the unread body, so that the next request of the connection can be read.
    request.resume();
  }
}

/** Path and first headers of the request to a host or proxy. */
function targetOf({ host, port }: Authority, path: string, { httpProxy }: Way) {
  const name = port === httpPort ? bracketed(host) : `${bracketed(host)}:${port}`;
  const lines = ["host", name];
  if (httpProxy === null) return { path, lines };
  const login = proxyLogin(httpProxy.url);
  if (login !== null) lines.push("proxy-authorization", login);
  return { path: `http://${name}${path}`, lines };
}
