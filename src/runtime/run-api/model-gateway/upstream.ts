import { Agent as HttpAgent, request as httpRequest } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { decoded } from "../decoded.ts";
import { Stale } from "../../wire/http-proxy.ts";

export interface UpstreamRequest {
  readonly url: URL;
  readonly headers: OutgoingHttpHeaders;
  /** In pieces, as all together may be large. */
  readonly body: readonly Buffer[];
  /** How long the provider may send nothing, in ms; null for the default. */
  readonly idleMs: number | null;
  readonly signal: AbortSignal;
  /** Called when the whole request has been sent. */
  readonly onSent: () => void;
}

export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Must be read to its end, or the request aborted. */
  readonly body: AsyncIterable<Buffer>;
}

/** How long a connection without a request is kept, in ms. */
const keptMs = 60_000;
/** How often a request is retried after the provider closed a reused connection. */
const maxStale = 2;

export class UpstreamTimeout extends Error {
  /** How long the provider sent nothing. */
  readonly ms: number;

  constructor(ms: number) {
    super("the provider sent nothing for too long");
    this.ms = ms;
  }
}

/** Reuses connections to providers between requests. `proxyEnv` has `HTTPS_PROXY` and so on. Redirects are returned like other answers; cookies aren't kept. */
export function createUpstream(proxyEnv: NodeJS.ProcessEnv, idleMs: number) {
  const settings = { keepAlive: true, timeout: keptMs, scheduling: "lifo", proxyEnv } as const;
  const http = { request: httpRequest, agent: new HttpAgent(settings) };
  const https = { request: httpsRequest, agent: new HttpsAgent(settings) };

  // No closure captures the body, which would be held until the answer's end.
  const send = (asked: UpstreamRequest): Promise<IncomingMessage> => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const { request, agent } = asked.url.protocol === "https:" ? https : http;
    const { headers, signal } = asked;
    const timeout = asked.idleMs ?? idleMs;
    let answer: IncomingMessage | null = null;
    const sent = request(asked.url, { method: "POST", headers, agent, signal, timeout });
    sent.once("response", (message) => resolve((answer = message)));
    sent.setNoDelay(true);
    sent.once("finish", asked.onSent);
    sent.once("timeout", () => (answer ?? sent).destroy(new UpstreamTimeout(timeout)));
    sent.on("error", (error) => reject(sent.reusedSocket ? new Stale(error) : error));
    for (const piece of asked.body) sent.write(piece);
    sent.end();
    return promise;
  };

  return {
    /** Rejects with the system's error when no answer came. */
    ask: async (request: UpstreamRequest): Promise<UpstreamAnswer> => {
      for (let stale = 0; ; stale += 1) {
        try {
          const message = await send(request);
          return { status: message.statusCode ?? 0, ...decoded(message, message.headers) };
        } catch (error) {
          if (!(error instanceof Stale)) throw error;
          if (stale === maxStale || !error.isClosed) throw error.cause;
        }
      }
    },
    close: () => {
      http.agent.destroy();
      https.agent.destroy();
    },
  };
}
