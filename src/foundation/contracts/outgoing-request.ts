import { Agent as HttpAgent, request as httpRequest } from "node:http";
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { messageOf } from "../errors.ts";

export interface OutgoingRequest {
  readonly method: "GET" | "POST";
  /** `http:` or `https:`. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Ends the request early. */
  readonly signal?: AbortSignal | undefined;
}

export interface OutgoingAnswer {
  /** A redirect is returned, not followed: its target may be one that only this machine reaches. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Cut to its first bytes. */
  readonly text: string;
}

/** Rejects if no complete answer came in time; the error names at most the host of the address. */
export type SendRequest = (request: OutgoingRequest) => Promise<OutgoingAnswer>;

interface OutgoingOptions {
  /** `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`, in upper or lower case. */
  readonly proxyEnv: NodeJS.ProcessEnv;
  /** How long one request with its response may take, in ms. */
  readonly timeoutMs?: number;
  /** Answers are cut to this size; 64 KiB by default. */
  readonly maxBytes?: number;
}

const maxAnswerBytes = 64 * 1024;

/** Short requests to hosts that an operator named, each over a connection of its own. */
export function createSendRequest({
  proxyEnv,
  timeoutMs = 15_000,
  maxBytes = maxAnswerBytes,
}: OutgoingOptions): SendRequest {
  // If a proxy does not respond, the signal ends neither the request nor the connection: this closes it.
  const settings = { proxyEnv, timeout: timeoutMs + 500 } as const;
  const http = { request: httpRequest, agent: new HttpAgent(settings) };
  const https = { request: httpsRequest, agent: new HttpsAgent(settings) };
  return async ({ method, url, headers, body, signal: early }) => {
    const { request, agent } = url.protocol === "https:" ? https : http;
    const late = AbortSignal.timeout(timeoutMs);
    const signal = early === undefined ? late : AbortSignal.any([late, early]);
    try {
      const sent = request(url, { method, headers, agent, signal });
      const answer = await answerTo(sent, body, signal);
      const text = await firstText(answer, maxBytes);
      // A body without a length seems whole when its connection is cut.
      signal.throwIfAborted();
      return { status: answer.statusCode ?? 0, headers: answer.headers, text };
    } catch (error) {
      const tooLate = `no whole answer within ${timeoutMs / 1000} s`;
      throw new Error(late.aborted ? tooLate : messageOf(error), { cause: error });
    }
  };
}

function answerTo(
  request: ClientRequest,
  body: string | null,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once("response", resolve);
    request.on("error", reject);
    signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
    request.end(body ?? undefined);
  });
}

/** Leaving the loop closes the connection. */
async function firstText(answer: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes).toString("utf8");
}

/** Shorter parts of a path are words, such as "webhooks". */
const shortestSecret = 9;

/** A text without the requested address, whose path is a secret: some servers repeat it. */
export function withoutAddress(text: string, url: URL): string {
  const parts = [url.href, url.pathname, url.search, ...url.pathname.split("/")];
  return parts
    .filter((part) => part.length >= shortestSecret)
    .reduce((shown, part) => shown.replaceAll(part, "[redacted]"), text);
}
