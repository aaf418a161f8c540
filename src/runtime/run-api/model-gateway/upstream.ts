import { Agent as HttpAgent, request as httpRequest } from "node:http";
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { OutgoingHttpHeaders } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { hasCode } from "../../../foundation/errors.ts";
import { decoded } from "../decoded.ts";

export interface UpstreamRequest {
  readonly url: URL;
  readonly headers: OutgoingHttpHeaders;
  /** In pieces: together they may be large. */
  readonly body: readonly Buffer[];
  /** How long the provider may send nothing, in ms; null for the usual time. */
  readonly idleMs: number | null;
  readonly signal: AbortSignal;
  /** The whole request is on its way. */
  readonly onSent: () => void;
}

export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** To be read to its end, or the request aborted. */
  readonly body: AsyncIterable<Buffer>;
}

export interface UpstreamOptions {
  /** `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`, in upper or lower case. */
  readonly proxyEnv: NodeJS.ProcessEnv;
  /** How long a provider may usually send nothing, in ms. */
  readonly idleMs: number;
}

/** Thinking models may be silent for minutes. */
export const defaultIdleMs = 15 * 60_000;
/** How long a connection without a request is kept, in ms. */
const keptMs = 60_000;
/** Connections that providers closed while the request was on its way, before it is given up. */
const maxStale = 2;

export class UpstreamTimeout extends Error {}

/** Connections to the providers, kept between requests. Redirects are answers like any other, and cookies are not kept. */
export function createUpstream({ proxyEnv, idleMs }: UpstreamOptions) {
  const settings = { keepAlive: true, timeout: keptMs, scheduling: "lifo", proxyEnv } as const;
  const http = { request: httpRequest, agent: new HttpAgent(settings) };
  const https = { request: httpsRequest, agent: new HttpsAgent(settings) };

  // No closure of it has the body: it would be held until the answer's end.
  const send = (asked: UpstreamRequest): Promise<IncomingMessage> => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const { request, agent } = asked.url.protocol === "https:" ? https : http;
    const { headers, signal } = asked;
    const options = { method: "POST", headers, agent, signal, timeout: asked.idleMs ?? idleMs };
    const sent = request(asked.url, options, resolve);
    sent.setNoDelay(true);
    sent.once("finish", asked.onSent);
    rejectOnError(sent, reject);
    for (const piece of asked.body) sent.write(piece);
    sent.end();
    return promise;
  };

  return {
    /** Rejects with the system's error when no answer came. */
    ask: async (request: UpstreamRequest): Promise<UpstreamAnswer> => {
      for (let stale = 0; ; stale += 1) {
        try {
          return answerOf(await send(request));
        } catch (error) {
          if (!(error instanceof Stale)) throw error;
          if (stale === maxStale || !isClosed(error.cause)) throw error.cause;
        }
      }
    },
    close: () => {
      http.agent.destroy();
      https.agent.destroy();
    },
  };
}

function rejectOnError(sent: ClientRequest, reject: (error: Error) => void): void {
  sent.once("timeout", () => sent.destroy(new UpstreamTimeout()));
  sent.on("error", (error) => reject(sent.reusedSocket ? new Stale(error) : error));
}

/** An error on a connection that had served a request before. */
class Stale extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause });
  }
}

function isClosed(error: unknown): boolean {
  return hasCode(error, "ECONNRESET", "EPIPE");
}

function answerOf(message: IncomingMessage): UpstreamAnswer {
  const { headers, body } = decoded(message, message.headers);
  return { status: message.statusCode ?? 0, headers, body };
}
