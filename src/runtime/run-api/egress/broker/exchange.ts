import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import { messageOf, Problem, reasonOf } from "../../../../foundation/errors.ts";
import { distinctMasks, maskedBytes, maskedHeader, type Mask } from "../../masked-bytes.ts";
import { refuseRequest } from "../answers.ts";
import { EgressRefusal, tlsPort } from "../decide.ts";
import { SentinelGuard } from "./sentinel-guard.ts";
import { answerMasks } from "./answer-masks.ts";
import { answerPush, pushGuard, RefusedPush } from "./push-guard.ts";
import { bodyRefusal, substituted, withMinted } from "./substitute.ts";
import type { Upstream, UpstreamRequest } from "./upstream.ts";
import type { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Stale, withoutHeaders } from "../../../wire/http-proxy.ts";
import { decoded } from "../../decoded.ts";
import { responseLines, requestLines } from "../forward-headers.ts";
import { canonicalHost } from "../../../../foundation/contracts/network-allow.ts";
import { bracketed, isDenyReason } from "../../../../foundation/contracts/deny-reasons.ts";
import type { SecretBinding } from "../../../../foundation/contracts/network-allow.ts";
import type { Socket } from "node:net";

/** An allowed tunnel to a host that a secret is bound to, with checked addresses and a matching TLS server name. */
export interface Interception {
  readonly instanceId: string;
  /** Canonical. */
  readonly host: string;
  readonly port: number;
  /** The run's end of the tunnel, paused before its TLS hello. The interceptor owns it until it is closed. */
  readonly client: Socket;
  /** Connects to one of the host's checked addresses. No second lookup. Rejects with an `EgressRefusal`. */
  readonly dial: () => Promise<Socket>;
  /** All bindings of the run, also those of other hosts: no sentinel may leave. */
  readonly bindings: readonly SecretBinding[];
  /** Refs that the run may push; absent for any. */
  readonly push?: readonly string[] | undefined;
  /** Reports a request that was refused. The bytes of the tunnel are counted at `client`, and need no report. */
  readonly onDenied: (refusal: Pick<EgressRefusal, "code" | "detail">) => void;
}

/** Terminates a tunnel's TLS instead of passing it through. Resolves when `client` is closed; a rejection cuts it. */
export type Intercept = (interception: Interception) => Promise<void>;

/** A tunnel whose TLS the scheduler terminates. */
export interface BrokeredTunnel {
  readonly interception: Interception;
  readonly upstream: Upstream;
  /** Masks for secrets that the host's answers may repeat. */
  readonly masks: readonly Mask[];
}

/** How long a host may send nothing, in ms. */
const idleMs = 15 * 60_000;

/** Forwards one request of a run with secrets in its headers, and the answer back. Rejects if a connection breaks. */
export async function exchange(
  request: IncomingMessage,
  response: ServerResponse,
  { interception, upstream, masks }: BrokeredTunnel,
): Promise<void> {
  try {
    const { host, bindings } = interception;
    assertForHost(request, host);
    const pushed = pushGuard(request, interception.push);
    const { url = "", rawHeaders } = request;
    const ready = await withMinted({ host, rawHeaders }, bindings);
    if (response.destroyed) return;
    const headers = substituted({ host, url, rawHeaders }, ready);
    const minted = ready.filter(({ mint }) => mint !== undefined);
    const sent = upstream.begin(upstreamRequest(request, host, headers));
    response.once("close", () => response.writableFinished || sent.destroy());
    const answer = await answerTo(sent, request, () => bodyRefusal(host), { first: pushed });
    const all = minted.length === 0 ? masks : distinctMasks([...masks, ...answerMasks(minted)]);
    await passAnswer(answer, response, { masks: all, isHead: request.method === "HEAD" });
  } catch (error) {
    if (response.headersSent || isStale(error)) throw error;
    const refusal = refusalOf(error, interception);
    if (error instanceof RefusedPush && error.report !== null)
      answerPush(request, response, error.report);
    else refuseRequest(request, response, refusal);
  }
}

interface AnswerOptions {
  /** How long the host may send nothing. */
  readonly silentMs?: number;
  /** Reads the body before anything else does. */
  readonly first?: Transform | null;
}

/** Resolves with the host's answer. Rejects with the refusal, and aborts the request, if its body has a sentinel. */
export function answerTo(
  sent: ClientRequest,
  request: IncomingMessage,
  refusal: () => Error,
  { silentMs = idleMs, first = null }: AnswerOptions = {},
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const guard = new SentinelGuard(refusal);
  const entry = first ?? guard;
  sent.once("response", resolve);
  sent.on("error", (error) => reject(sent.reusedSocket ? new Stale(error) : error));
  sent.setTimeout(silentMs, () => sent.destroy(new Error("it sent nothing for too long")));
  sent.once("close", () => {
    reject(new Error("it closed the connection"));
    // Reads the rest of the body: clients read the answer only after they have sent all of it.
    request.unpipe(entry);
    request.resume();
  });
  for (const each of [entry, guard]) {
    each.on("error", (error) => {
      reject(error);
      sent.destroy(error);
    });
  }
  if (first !== null) first.pipe(guard);
  request.pipe(entry);
  guard.pipe(sent);
  return promise;
}

/** Whether the host closed an idle connection as the request came; the client's is closed too, so that it retries. */
function isStale(error: unknown): boolean {
  return error instanceof Stale && error.isClosed;
}

function refusalOf(error: unknown, { host, onDenied }: BrokeredTunnel["interception"]) {
  const problem =
    error instanceof Problem
      ? error
      : new EgressRefusal("unreachable", { host, port: tlsPort }, messageOf(error));
  const { code, status } = problem;
  const detail = problem instanceof EgressRefusal ? problem.detail : reasonOf(problem);
  if (isDenyReason(code)) onDenied({ code, detail });
  return { status, detail };
}

const withoutBody = [204, 304];

/** Streams a host's answer to the client with each secret masked, if any. Rejects if either connection breaks. */
export async function passAnswer(
  answer: IncomingMessage,
  response: ServerResponse,
  { masks, isHead }: { readonly masks: readonly Mask[]; readonly isHead: boolean },
): Promise<void> {
  const { statusCode = 502, statusMessage = "", headers } = answer;
  const hasBody = masks.length > 0 && !isHead && !withoutBody.includes(statusCode);
  const body = hasBody ? decoded(answer, headers).body : answer;
  const isDecoded = body !== answer;
  if (hasBody) assertReadable(answer, isDecoded);
  const plain = (text: string) => maskedHeader(text, masks);
  const lines = withoutHeaders(responseLines(answer.rawHeaders), isDecoded ? ofEncoded : ofAll);
  response.sendDate = false;
  response.writeHead(statusCode, plain(statusMessage), lines.map(plain));
  response.flushHeaders();
  if (masks.length === 0) return pipeline(body, response);
  await pipeline(body, (bytes: AsyncIterable<Buffer>) => maskedBytes(bytes, masks), response);
}

/** Throws, and closes the host's connection, if the body's encoding could hide a secret from the masks. */
function assertReadable(answer: IncomingMessage, isDecoded: boolean): void {
  const { "content-encoding": encoding = "identity", "transfer-encoding": coding = "chunked" } =
    answer.headers;
  const unread = [
    ...(isDecoded || encoding === "identity" ? [] : [`the encoding ${JSON.stringify(encoding)}`]),
    ...(coding.toLowerCase() === "chunked"
      ? []
      : [`the transfer coding ${JSON.stringify(coding)}`]),
  ];
  if (unread.length === 0) return;
  answer.destroy();
  throw new Error(`it answers in ${unread.join(" and ")}, which can't be read`);
}

/** `alt-svc` offers another protocol, which would bypass the scheduler. */
const ofAll = new Set(["alt-svc"]);
const ofEncoded = new Set([...ofAll, "content-encoding", "content-length"]);

/** The refusal of a request that is not forwarded. The message names the problem and a fix. */
function unsuitable(status: number, message: string): Problem {
  return new Problem("unsuitable_request", message, { status });
}

/** Throws a Problem for an upgrade, and for a request to another host, which the same server might serve. */
function assertForHost({ headers, url = "" }: IncomingMessage, host: string): void {
  if (headers.upgrade !== undefined)
    throw unsuitable(403, `Upgrade is refused: the credential of ${host} needs plain HTTPS`);
  const asked = canonicalHost((headers.host ?? "").replace(/:443$/, ""));
  const isPath = url.startsWith("/") || url === "*";
  if (isPath && asked === host) return;
  throw unsuitable(421, `this connection is to ${host}; open another one for another host`);
}

/** Ranges are dropped because an answer could repeat a secret in parts, which no mask recognizes. */
const replaced = new Set(["accept-encoding", "connection", "range", "if-range"]);

/**
 * The request as the host receives it, with one Host header. It asks for an uncompressed answer, which can be masked.
 * Throws a Problem if the body's transfer coding can't be forwarded.
 */
export function upstreamRequest(
  { method = "GET", url = "/", headers }: IncomingMessage,
  host: string,
  rawHeaders: readonly string[],
): UpstreamRequest {
  const lines = requestLines(rawHeaders);
  if (lines === null) throw unsuitable(501, "only the transfer-encoding chunked is forwarded");
  const own = ["host", bracketed(host), "accept-encoding", "identity"];
  const kept = withoutHeaders(lines, replaced);
  return { method, path: url, headers: [...own, ...kept, ...missingLength(method, headers)] };
}

const withBody = ["POST", "PUT", "PATCH"];

/** Without a content-length, Node sends an empty body in chunks. */
function missingLength(method: string, headers: IncomingMessage["headers"]): string[] {
  const { "transfer-encoding": coding, "content-length": length } = headers;
  const isEmpty = coding === undefined && length === undefined;
  return isEmpty && withBody.includes(method) ? ["content-length", "0"] : [];
}
