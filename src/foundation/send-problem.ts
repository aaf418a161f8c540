import { STATUS_CODES } from "node:http";
import type { FastifyReply } from "fastify";
import { headersFor, type Problem } from "./errors.ts";

/** The fields of a problem document; an error's stack trace would cost more than all of it. */
type ProblemFields = Pick<Problem, "status" | "code" | "message"> &
  Partial<Pick<Problem, "headers" | "members">>;

/** Answers with the problem document. */
export function sendProblem(reply: FastifyReply, problem: ProblemFields): FastifyReply {
  return reply
    .code(problem.status)
    .headers(problem.headers ?? headersFor(problem.status, problem.code))
    .type("application/problem+json")
    .send(problemText(problem).body);
}

/** The title and the body of a problem answer (RFC 9457). */
export function problemText({ status, message: detail, code: error, members }: ProblemFields) {
  const title = STATUS_CODES[status] ?? "Error";
  const document = { type: "about:blank", title, status, detail, error, ...members };
  return { title, body: JSON.stringify(document) };
}

/** The status of an error of the framework by which a client's request is invalid; null for any other error. */
export function clientStatus(error: unknown): number | null {
  const status = (error as { readonly statusCode?: number } | null)?.statusCode;
  return status !== undefined && status >= 400 && status < 500 ? status : null;
}
