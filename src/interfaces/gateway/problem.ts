import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyError, FastifyReply } from "fastify";
import { OperationError } from "../../foundation/contracts/operations.ts";
import { UserError } from "../../foundation/errors.ts";

/** A refused request: becomes an `application/problem+json` answer (RFC 9457). */
export class HttpProblem extends Error {
  readonly status: number;
  /** Short stable code for programs. */
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: string,
    detail: string,
    options: { headers?: Readonly<Record<string, string>>; cause?: unknown } = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "HttpProblem";
    this.status = status;
    this.code = code;
    this.headers = options.headers ?? {};
  }
}

const operationStatus: Readonly<Record<OperationError["code"], number>> = {
  unknown_agent: 404,
  unknown_budget: 404,
  unknown_delivery: 404,
  unknown_instance: 404,
  unknown_receipt: 404,
  unknown_target: 404,
  unknown_trigger: 404,
  unknown_version: 404,
  unreadable_receipt: 409,
  disabled: 409,
  invalid_config: 409,
  invalid_host: 400,
  draining: 503,
  refused: 409,
  store_unavailable: 503,
};

/** Errors of the store that the caller is shown; any other UserError is not the request's fault and a 500. */
const userStatus: Readonly<Record<string, number | undefined>> = {
  bad_cursor: 400,
  bad_search: 400,
  search_unavailable: 503,
  store_unavailable: 503,
  store_corrupt: 503,
};

/** Codes of the framework's own refusals; every other 4xx of it is `malformed`. */
const frameworkCodes: Readonly<Record<number, string>> = {
  404: "not_found",
  408: "timeout",
  413: "too_large",
  415: "unsupported_media_type",
};

/** Turns anything thrown in a route into a problem; an unexpected error is a 500 without its details. */
export function problemOf(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) return error;
  if (error instanceof OperationError) {
    return knownProblem(operationStatus[error.code], error.code, error);
  }
  if (error instanceof UserError) {
    const status = userStatus[error.code];
    if (status !== undefined) return knownProblem(status, error.code, error);
  }
  const status = frameworkStatus(error);
  if (status !== null && error instanceof Error) {
    return new HttpProblem(status, frameworkCodes[status] ?? "malformed", error.message);
  }
  return new HttpProblem(500, "internal", "Something went wrong; the scheduler's log says what.", {
    cause: error,
  });
}

function knownProblem(status: number, code: string, error: Error): HttpProblem {
  const headers = status === 503 ? { "retry-after": "5" } : {};
  return new HttpProblem(status, code, error.message, { headers, cause: error });
}

function frameworkStatus(error: unknown): number | null {
  const status = (error as Partial<FastifyError> | null)?.statusCode;
  return status !== undefined && status >= 400 && status < 500 ? status : null;
}

/** Answers with the problem document. */
export function sendProblem(reply: FastifyReply, problem: HttpProblem): FastifyReply {
  return reply
    .code(problem.status)
    .headers(problem.headers)
    .type("application/problem+json")
    .send(problemText(problem).body);
}

/** The title and the body of a problem answer. */
function problemText({ status, message: detail, code: error }: HttpProblem): {
  readonly title: string;
  readonly body: string;
} {
  const title = STATUS_CODES[status] ?? "Error";
  return { title, body: JSON.stringify({ type: "about:blank", title, status, detail, error }) };
}

const unreadable: Readonly<Record<string, HttpProblem | undefined>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new HttpProblem(408, "timeout", "The request did not arrive in time."),
  HPE_HEADER_OVERFLOW: new HttpProblem(431, "headers_too_large", "The headers are too large."),
};
const malformed = new HttpProblem(400, "malformed", "This is not an HTTP request.");

/** Answers bytes that could not be parsed as a request, and so reach no route, with a problem document. */
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
