import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { hasCode } from "../../foundation/errors.ts";

/** Hop-by-hop headers, which proxies don't forward (RFC 9110 7.6.1; `Proxy-Connection` predates it). */
export const connectionHeaders: ReadonlySet<string> = new Set([
  "connection",
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Filters alternating names and values of headers; `dropped` has names in lower case. */
export function withoutHeaders(lines: readonly string[], dropped: ReadonlySet<string>): string[] {
  return lines.filter((_text, index) => {
    const name = lines[index - (index % 2)] ?? "";
    return !dropped.has(name.toLowerCase());
  });
}

/** Whether a request is for a proxy: its URL is absolute. */
export function isAbsoluteForm(url: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(url);
}

/** `Proxy-Authorization` for a proxy with user and password in its URL; null for a URL without. */
export function proxyLogin({ username, password }: URL): string | null {
  if (username === "" && password === "") return null;
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(login).toString("base64")}`;
}

/** Destroys a request whose client sends nothing of its body for `silentMs`: it holds memory that others wait for. */
export function cutIfSilent(request: IncomingMessage, silentMs: number): void {
  const { socket } = request;
  let seen = socket.bytesRead;
  const look = (): void => {
    if (request.complete) return clearInterval(timer);
    if (socket.bytesRead === seen) request.destroy();
    seen = socket.bytesRead;
  };
  const timer = setInterval(look, silentMs);
  request.once("close", () => clearInterval(timer));
}

/** An error on a connection that had served a request before. */
export class Stale extends Error {
  /** Whether the other side closed the connection while it was idle, as the request came. */
  readonly isClosed: boolean;

  constructor(cause: Error) {
    super(cause.message, { cause });
    this.isClosed = hasCode(cause, "ECONNRESET", "EPIPE");
  }
}

/**
 * Aborts when the other side ends a connection of which nothing is read yet, such as one that waits for a tunnel.
 * `stop` must be called before the first read.
 */
export function hangUpOf(socket: Socket): {
  readonly signal: AbortSignal;
  readonly stop: () => void;
} {
  const gone = new AbortController();
  const abort = (): void => gone.abort(new Error("the client hung up"));
  // Reading zero bytes reveals an end of the stream; data stays in the buffer.
  const look = (): void => void (socket.readableLength === 0 && socket.read());
  const stop = (): void => {
    socket.off("readable", look).off("end", abort).off("close", abort);
  };
  socket.on("readable", look).once("end", abort).once("close", abort);
  if (socket.closed) abort();
  return { signal: gone.signal, stop };
}
