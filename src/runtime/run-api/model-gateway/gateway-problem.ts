import type { ServerResponse } from "node:http";
import type { Problem, WireApi } from "./wire-api.ts";
import { messageOf } from "../../../foundation/errors.ts";
import { UpstreamTimeout, type UpstreamAnswer } from "./upstream.ts";

/** Why the gateway itself answers instead of the provider. */
export class GatewayProblem extends Error implements Problem {
  readonly status: number;
  readonly code: string;
  /** Whether the same request may succeed later. */
  readonly isPassing: boolean;

  constructor(
    status: number,
    code: string,
    message: string,
    { isPassing = false, ...options }: { isPassing?: boolean; cause?: unknown } = {},
  ) {
    super(message, options);
    this.name = "GatewayProblem";
    this.status = status;
    this.code = code;
    this.isPassing = isPassing;
  }
}

/**
 * Sends a problem in the provider's error format. pi and the vendors' SDKs obey `x-should-retry: false`; transient
 * problems omit it, and clients retry them by status. In the middle of an answer the client's connection is cut.
 */
export function sendProblem(response: ServerResponse, api: WireApi, problem: GatewayProblem): void {
  if (response.headersSent) return void response.destroy();
  const body = JSON.stringify(api.errorBody(problem));
  response.setHeader("content-type", "application/json");
  response.setHeader("content-length", Buffer.byteLength(body));
  if (!problem.isPassing) response.setHeader("x-should-retry", "false");
  response.writeHead(problem.status);
  response.end(body);
}

/** The provider did not answer: clients retry the status as they retry a provider's own errors. */
export function unreachable({ host }: URL, cause: unknown): GatewayProblem {
  const passing = { isPassing: true, cause };
  if (cause instanceof UpstreamTimeout) {
    return new GatewayProblem(
      504,
      "upstream_timeout",
      `${host} sent nothing for too long`,
      passing,
    );
  }
  const message = `${host} cannot be reached: ${messageOf(cause)}`;
  return new GatewayProblem(502, "upstream_unreachable", message, passing);
}

/** The provider stopped in the middle of its answer, and the client's answer is incomplete. */
export function brokenOff({ host }: URL, cause: unknown): GatewayProblem {
  const message = `${host} broke its answer off: ${messageOf(cause)}`;
  return new GatewayProblem(502, "upstream_broke_off", message, { isPassing: true, cause });
}

/** An endless answer would fill the memory of its run. */
export function tooLong(bytes: number): GatewayProblem {
  const message = `the answer was longer than ${bytes / 1024 / 1024} MiB`;
  return new GatewayProblem(502, "answer_too_long", message);
}

/** Redirects are never followed: the target would receive the key. */
export function assertNoRedirect({ status, headers }: UpstreamAnswer, { host }: URL): void {
  if (status < 300 || status >= 400) return;
  const target = headers.location === undefined ? "" : ` to ${originOf(headers.location)}`;
  const message = `${host} redirects${target}, which the gateway does not follow; set baseUrl to where the API is`;
  throw new GatewayProblem(502, "upstream_redirect", message);
}

/** Rejects an encoded answer: neither its usage nor secrets in it could be found. */
export function assertReadable({ headers }: UpstreamAnswer, { host }: URL): void {
  const encoding = headers["content-encoding"];
  if (encoding === undefined) return;
  const message = `${host} compresses its answer as ${JSON.stringify(encoding)}, which the gateway does not read`;
  throw new GatewayProblem(502, "upstream_encoding", message);
}

function originOf(location: string): string {
  return URL.canParse(location) ? new URL(location).origin : "another path";
}
