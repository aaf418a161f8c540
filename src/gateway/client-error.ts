import type { Socket } from "node:net";
import { HttpProblem, problemText } from "./problem.ts";

const problems: Readonly<Record<string, HttpProblem | undefined>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new HttpProblem(408, "timeout", "The request did not arrive in time."),
  HPE_HEADER_OVERFLOW: new HttpProblem(431, "headers_too_large", "The headers are too large."),
};
const malformed = new HttpProblem(400, "malformed", "This is no HTTP request.");

/** Answers what could not be read as a request, and so reaches no route, with a problem like any other. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  const problem = problems[error.code ?? ""] ?? malformed;
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
