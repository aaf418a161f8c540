import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import { hasCode, messageOf } from "../../../../foundation/errors.ts";
import type { Mask } from "../../masked-bytes.ts";
import type { Interception } from "../interception.ts";
import { tlsPort } from "../authority.ts";
import { EgressRefusal } from "../decide.ts";
import { passAnswer } from "./pass-answer.ts";
import { assertForHost, HeadRefusal, upstreamRequest } from "./request-head.ts";
import { SentinelGuard } from "./sentinel-guard.ts";
import { bodyRefusal, SentinelRefusal, substituted } from "./substitute.ts";
import type { Upstream } from "./upstream.ts";

/** A tunnel whose TLS ends here. */
export interface BrokeredTunnel {
  readonly interception: Pick<Interception, "host" | "bindings" | "onDenied">;
  readonly upstream: Pick<Upstream, "begin">;
  /** For what the host may answer with of its secrets. */
  readonly masks: readonly Mask[];
}

/** How long a host may send nothing, in ms. */
const idleMs = 15 * 60_000;

/** Sends one request of a run on with the secrets in its headers, and the answer back. Rejects when that breaks off. */
export async function exchange(
  request: IncomingMessage,
  response: ServerResponse,
  { interception, upstream, masks }: BrokeredTunnel,
): Promise<void> {
  try {
    const { host, bindings } = interception;
    assertForHost(request, host);
    const { url = "", rawHeaders } = request;
    const headers = substituted({ host, url, rawHeaders }, bindings);
    const sent = upstream.begin(upstreamRequest(request, host, headers));
    response.once("close", () => response.writableFinished || sent.destroy());
    const answer = await answerTo(sent, request, host);
    await passAnswer(answer, response, { masks, isHead: request.method === "HEAD" });
  } catch (error) {
    if (response.headersSent || isStale(error)) throw error;
    refuse(request, response, refusalOf(error, interception));
  }
}

/** Rejects with what is wrong with the request's body, too; then the request is cut off. */
function answerTo(
  sent: ClientRequest,
  request: IncomingMessage,
  host: string,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const guard = new SentinelGuard(() => bodyRefusal(host));
  sent.once("response", resolve);
  sent.on("error", (error) => reject(sent.reusedSocket ? new Stale(error) : error));
  sent.setTimeout(idleMs, () => sent.destroy(new Error("it sent nothing for too long")));
  sent.once("close", () => {
    reject(new Error("it closed the connection"));
    // Clients look for an answer once all is sent.
    request.unpipe(guard);
    request.resume();
  });
  guard.on("error", (error) => {
    reject(error);
    sent.destroy(error);
  });
  request.pipe(guard).pipe(sent);
  return promise;
}

/** An error on a connection that had served a request before. */
class Stale extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause });
  }
}

/** The host closed an idle connection as the request came: the client's own is closed too, and it asks again. */
function isStale(error: unknown): boolean {
  return error instanceof Stale && hasCode(error.cause, "ECONNRESET", "EPIPE");
}

interface Refusal {
  readonly status: number;
  readonly detail: string;
}

function refusalOf(error: unknown, { host, onDenied }: BrokeredTunnel["interception"]): Refusal {
  if (error instanceof HeadRefusal) return { status: error.status, detail: error.message };
  if (error instanceof SentinelRefusal) {
    onDenied("sentinel", error.message);
    return { status: 403, detail: error.message };
  }
  const refusal =
    error instanceof EgressRefusal
      ? error
      : new EgressRefusal("unreachable", { host, port: tlsPort }, { more: messageOf(error) });
  onDenied(refusal.reason, refusal.detail);
  return { status: 502, detail: refusal.detail };
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, detail }: Refusal,
): void {
  request.resume();
  const headers = { "content-type": "text/plain; charset=utf-8", connection: "close" };
  response.writeHead(status, headers).end(`${detail}\n`);
}
