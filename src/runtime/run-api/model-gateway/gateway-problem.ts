import type { ServerResponse } from "node:http";
import { problemHeader } from "../../../foundation/contracts/model-address.ts";
import type { Problem, WireApi } from "./wire-api.ts";

/** Why the gateway itself answers in place of the provider. */
export class GatewayProblem extends Error implements Problem {
  readonly status: number;
  readonly code: string;
  /** Whether the same request may succeed later. */
  readonly isPassing: boolean;

  constructor(
    { status, code, message }: Problem,
    options: { isPassing?: boolean; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "GatewayProblem";
    this.status = status;
    this.code = code;
    this.isPassing = options.isPassing ?? false;
  }
}

/**
 * Sends a problem as the provider would send an error. `x-should-retry: false` is what pi and the vendors' SDKs obey; what
 * may pass comes without it, and is repeated by its status. In the middle of an answer the problem is a trailer: an
 * answer that ends without its last chunk is one whose scheduler died.
 */
export function sendProblem(
  response: ServerResponse,
  api: Pick<WireApi, "errorBody">,
  problem: GatewayProblem,
): void {
  if (response.headersSent && !response.destroyed) {
    response.addTrailers({ [problemHeader]: problem.code });
    return void response.end();
  }
  if (response.destroyed) return;
  const body = JSON.stringify(api.errorBody(problem));
  response.setHeader("content-type", "application/json");
  response.setHeader("content-length", Buffer.byteLength(body));
  if (!problem.isPassing) response.setHeader("x-should-retry", "false");
  response.setHeader(problemHeader, problem.code);
  response.writeHead(problem.status);
  response.end(body);
}
