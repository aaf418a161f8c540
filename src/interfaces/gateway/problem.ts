import type { Socket } from "node:net";
import { Problem } from "../../foundation/errors.ts";
import { clientStatus, problemText } from "../../foundation/send-problem.ts";

/** Codes of the framework's own errors; every other 4xx of it is `malformed`. */
const frameworkCodes: Readonly<Record<number, string>> = {
  404: "not_found",
  408: "timeout",
  413: "too_large",
  415: "unsupported_media_type",
};

/** Turns anything thrown in a route into an error to respond with; an unexpected one is a 500 without its details. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem && (error.status !== 500 || error.code === "internal")) return error;
  const status = clientStatus(error);
  if (status !== null && error instanceof Error)
    return new Problem(frameworkCodes[status] ?? "malformed", error.message, { status });
  return internalError(error);
}

/** The 500 for an error that is only logged. */
export function internalError(cause: unknown): Problem {
  return new Problem("internal", "Something went wrong; the scheduler's log says what.", {
    cause,
  });
}

const unreadable: Readonly<Record<string, Problem | undefined>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new Problem("timeout", "The request did not arrive in time."),
  HPE_HEADER_OVERFLOW: new Problem("headers_too_large", "The headers are too large."),
};
const malformed = new Problem("malformed", "This is not an HTTP request.");

/** Answers bytes that could not be parsed as a request, and so have no route, with a problem document. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  const problem = unreadable[error.code ?? ""] ?? malformed;
  const { title, body } = problemText(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${title}`,
    "content-type: application/problem+json",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  if (socket.writable) socket.write(`${head.join("\r\n")}\r\n\r\n${body}`);
  socket.destroy(error);
}
