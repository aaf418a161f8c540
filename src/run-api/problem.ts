import { STATUS_CODES } from "node:http";
import type { FastifyReply } from "fastify";
import { runApiErrors, RunApiError, refusal } from "../contracts/run-api.ts";

/**
 * What a run is told about anything that was thrown. An unexpected error goes to `onUnexpected`; the run may try
 * again, as it may after a restart.
 */
export function problemOf(error: unknown, onUnexpected: (error: unknown) => void): RunApiError {
  if (error instanceof RunApiError) return error;
  const { statusCode = 500, message } = error as { statusCode?: number; message: string };
  // The framework's own: not JSON, too large, another media type.
  if (statusCode >= 400 && statusCode < 500) return refusal("malformed", message);
  onUnexpected(error);
  return refusal("unavailable", "The scheduler could not do it; its log says why.");
}

/** Answers with the problem document (RFC 9457). */
export function sendProblem(reply: FastifyReply, { problem }: RunApiError): FastifyReply {
  const status = runApiErrors[problem.error];
  if (problem.error === "unauthorized") reply.header("www-authenticate", "Bearer");
  return reply
    .code(status)
    .type("application/problem+json")
    .send(JSON.stringify({ type: "about:blank", title: STATUS_CODES[status], status, ...problem }));
}
