import { request as httpRequest, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { once } from "node:events";
import { ReadableStream } from "node:stream/web";
import { canonicalHost } from "../../../foundation/contracts/network-allow.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { JsonSize } from "../../../foundation/contracts/json-size.ts";
import { mcpLimits } from "../../../foundation/contracts/mcp.ts";
import { admit, type AdmitDeps } from "../egress/admit.ts";
import { EgressRefusal } from "../egress/decide.ts";
import { dialTls } from "../egress/broker/upstream.ts";
import { mcpCall, type McpCall } from "../../wire/mcp-call.ts";
import { createShares, type Release } from "../shares.ts";

interface McpAddress {
  readonly url: URL;
  /** Whether the address may be in a private network. */
  readonly isPrivate: boolean;
  /** The gateway's port on this machine, which is refused; null for none. */
  readonly ownPort: number | null;
  /** Sent with each request: the credential as it is now. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
  /** How long a request may take until its answer has ended, in ms. */
  readonly timeoutMs: number;
  readonly instanceId: string;
  /** Present if the run follows the server's notifications. */
  readonly onToolsChanged?: () => void;
  /** Aborts at the run's end. */
  readonly signal: AbortSignal;
}

export interface McpFetchDeps extends Omit<AdmitDeps, "approve"> {
  /** Memory for the long answers of all servers, by run. */
  readonly room: ReturnType<typeof createShares>;
}

/** A longer answer takes the memory of the longest one, and waits for it. */
const shortBytes = 64 * 1024;

/** Each run has one long answer at a time, whatever others hold. */
export function createAnswerRoom() {
  const { answerBytes } = mcpLimits;
  return createShares({ total: 4 * answerBytes, perOwner: 2 * answerBytes, assured: answerBytes });
}

/**
 * A `fetch` for one MCP server: its host's addresses are checked like those that runs reach, redirects are answers like
 * any other, and no answer is longer than its limits. The answer to a request goes on by the id of its last event
 * (SEP-1699). The stream of a server's notifications lasts as long as the run. A call is told its last problem.
 */
export function createMcpFetch(address: McpAddress, deps: McpFetchDeps) {
  let list = createLimit(0, 0);
  const limitsFor = ({ method, params }: Message) => {
    if (method !== "tools/list") return createLimit(mcpLimits.answerBytes, mcpLimits.answerValues);
    // The client replaces its tools by the first page.
    if (params?.cursor === undefined) list = createLimit(mcpLimits.listBytes, mcpLimits.listValues);
    return list;
  };
  let subscribed = 0;
  let subscriber: McpCall | undefined;
  /** The server's notifications: by GET, which the client opens while it connects, or by a request. */
  const subscribes = ({ method, headers }: RequestInit, message: Message, call?: McpCall) => {
    if (method !== "GET") return message.method === "subscriptions/listen";
    if (!new Headers(headers).has("last-event-id")) subscriber = call;
    return call === subscriber;
  };
  const tell = (problem: string | null): void => {
    const call = mcpCall.getStore();
    if (call !== undefined && !call.signal.aborted) call.problem = problem;
  };
  const failed = (error: unknown): never => {
    tell(error instanceof EgressRefusal ? error.detail : messageOf(error));
    throw error;
  };
  const enter = async (signal: AbortSignal): Promise<Release> => {
    tell("other long answers use up the memory");
    const release = await deps.room.acquire(address.instanceId, mcpLimits.answerBytes, signal);
    tell(null);
    return release;
  };
  const read = async function* (answer: AsyncIterable<Buffer>, limit: Limit, signal: AbortSignal) {
    let release: Release | null = null;
    let bytes = 0;
    try {
      for await (const chunk of answer) {
        const excess = limit(chunk);
        if (excess !== null) failed(new Error(excess));
        bytes += chunk.length;
        if (bytes > shortBytes) release ??= await enter(signal);
        yield chunk;
      }
    } finally {
      release?.();
    }
  };
  const subscription = async (init: RequestInit): Promise<Response> => {
    const isUnwanted = address.onToolsChanged === undefined;
    if (isUnwanted || ++subscribed > maxResumed) return new Response(null, { status: 405 });
    const signal = AbortSignal.any([address.signal, ...(init.signal ? [init.signal] : [])]);
    const answer = await answerOf(address, init, signal, deps);
    // Shorter than the answers that wait for memory.
    return responseOf(answer, read(answer, createLimit(shortBytes, shortBytes)(), signal));
  };
  return async (_url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const call = mcpCall.getStore();
    const message = messageIn(init);
    if (subscribes(init, message, call)) return subscription(init);
    if (init.method !== "GET") tell(null);
    else if (!mayResume(init, call)) return new Response(null, { status: 405 });
    // The client has a time limit for each call, which progress begins anew.
    const end = call?.signal ?? AbortSignal.timeout(address.timeoutMs);
    const signal = AbortSignal.any([end, address.signal, ...(init.signal ? [init.signal] : [])]);
    const answer = await answerOf(address, init, signal, deps).catch(failed);
    const redirect = redirectOf(answer);
    if (redirect !== null) return failed(new Error(redirect));
    const limits = call?.limits ?? limitsFor(message);
    if (call !== undefined) call.limits = limits;
    return responseOf(answer, read(answer, limits(), signal));
  };
}

type Pieces = AsyncGenerator<Buffer, void, void>;

function responseOf(answer: IncomingMessage, pieces: Pieces): Response {
  const { statusCode: status = 0, headers } = answer;
  const isEmpty = status === 204;
  if (isEmpty) answer.resume();
  const close = pieces.return.bind(pieces);
  // A generator that is ended before its first piece would leave the answer open.
  pieces.return = (value) => {
    answer.destroy();
    return close(value);
  };
  const body = isEmpty ? null : ReadableStream.from(pieces);
  // A list of values becomes one text.
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)] as const);
  return new Response(body as BodyInit | null, { status, headers: Object.fromEntries(texts) });
}

/** Says how an answer exceeds its limits with a next piece; null if it does not. */
type Limit = (chunk: Buffer) => string | null;

/** The limit of answers together. Values are counted before they are parsed. */
function createLimit(maxBytes: number, maxValues: number): () => Limit {
  let [bytes, values] = [0, 0];
  return () => {
    // Each answer is parsed separately, as one may end inside of a text.
    const size = new JsonSize();
    values += size.values;
    return (chunk) => {
      bytes += chunk.length;
      if (bytes > maxBytes) return `its answer is longer than ${maxBytes / 1024 / 1024} MiB`;
      const before = size.values;
      values += size.push(chunk, maxValues).values - before;
      return values <= maxValues ? null : `its answer has more than ${maxValues} values`;
    };
  };
}

/** How often the stream of one answer is resumed, and that of a server's notifications opened. */
const maxResumed = 100;

/** Whether a GET is for the rest of an answer, which was within its limits so far. */
function mayResume({ headers }: RequestInit, call: McpCall | undefined): boolean {
  if (call === undefined || call.problem !== null) return false;
  call.resumed += 1;
  return call.resumed <= maxResumed && new Headers(headers).has("last-event-id");
}

interface Message {
  readonly method?: string;
  readonly params?: { readonly cursor?: string };
}

const messageIn = ({ body }: RequestInit): Message =>
  typeof body === "string" ? (JSON.parse(body) as Message) : {};

/** Why a redirect is an error; null for another answer. */
function redirectOf(answer: IncomingMessage): string | null {
  const { statusCode: status = 0, headers } = answer;
  if (status < 300 || status >= 400) return null;
  answer.destroy();
  const { location = "" } = headers;
  return `it redirects${location === "" ? "" : ` to ${location.slice(0, 200)}`}, which is not followed: name the final address as url`;
}

async function answerOf(
  { url, isPrivate, ownPort, headers: own, instanceId }: McpAddress,
  { method = "POST", headers = {}, body }: RequestInit,
  signal: AbortSignal,
  deps: McpFetchDeps,
): Promise<IncomingMessage> {
  const scheme = url.protocol === "https:" ? "https" : "http";
  const host = canonicalHost(url.hostname);
  if (host === null) throw new Error(`${url.hostname} is not a host`);
  const asked = { host, port: Number(url.port || (scheme === "https" ? 443 : 80)) };
  const allow = [{ ...asked, isWildcard: false, isPrivate }];
  const policy = { agent: "", allow, ownPort, bindings: [] };
  const approve = () => Promise.resolve(null);
  const way = await admit(policy, asked, scheme, { instanceId, signal }, { ...deps, approve });
  const dial = () => way.dial(signal);
  const socket: Duplex = scheme === "https" ? await dialTls(host, dial, signal) : await dial();
  const text = typeof body === "string" ? body : "";
  const sent = httpRequest({
    method,
    path: `${url.pathname}${url.search}`,
    headers: {
      ...Object.fromEntries(new Headers(headers)),
      ...(await own()),
      host: url.host,
      "accept-encoding": "identity",
      "content-length": Buffer.byteLength(text),
    },
    createConnection: () => socket,
    signal,
  });
  sent.once("close", () => socket.destroy());
  sent.end(text);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  sent.on("error", (error) => answer.destroy(error));
  return answer;
}
