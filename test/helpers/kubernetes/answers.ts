import type { ServerResponse } from "node:http";
import type { Status } from "./wire-types.ts";

/** Thrown where the server refuses a request. */
export class Refusal extends Error {
  readonly status: Status;

  constructor(code: number, reason: string, message: string) {
    super(message);
    this.status = {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      code,
      reason,
      message,
    };
  }
}

/** The reasons of the API server's own errors. */
export const refusals = {
  badRequest: (why: string) => new Refusal(400, "BadRequest", why),
  unauthorized: () => new Refusal(401, "Unauthorized", "Unauthorized"),
  forbidden: (why: string) => new Refusal(403, "Forbidden", why),
  notFound: (what: string) => new Refusal(404, "NotFound", `${what} not found`),
  alreadyExists: (what: string) => new Refusal(409, "AlreadyExists", `${what} already exists`),
  unavailable: () =>
    new Refusal(503, "ServiceUnavailable", "the server is currently unable to handle the request"),
} as const;

export function success(): Status {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" };
}

export function sendJson(response: ServerResponse, code: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(code, { "content-type": "application/json" }).end(text);
}
