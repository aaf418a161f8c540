import type { ServerResponse } from "node:http";
import type { WireApi } from "./wire-api.ts";
import { messageOf, Problem } from "../../../foundation/errors.ts";
import { UpstreamTimeout, type UpstreamAnswer } from "./upstream.ts";

/** Why the gateway itself answers instead of the provider. The run sees it, unlike other errors. */
export class GatewayProblem extends Problem {}

const passing = [
  "internal_error",
  "rate_limited",
  "store_unavailable",
  "upstream_broke_off",
  "upstream_timeout",
  "upstream_unreachable",
];

/** Whether the same request may succeed later. */
export function isPassing({ code }: GatewayProblem): boolean {
  return passing.includes(code);
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
  if (!isPassing(problem)) response.setHeader("x-should-retry", "false");
  response.writeHead(problem.status);
  response.end(body);
}

/** The provider did not answer: clients retry the status as they retry a provider's own errors. */
export function unreachable({ host }: URL, cause: unknown): GatewayProblem {
  if (cause instanceof UpstreamTimeout) {
    return new GatewayProblem("upstream_timeout", `${host} sent nothing for too long`, { cause });
  }
  return new GatewayProblem(
    "upstream_unreachable",
    `${host} cannot be reached: ${messageOf(cause)}`,
    { cause },
  );
}

/** The provider stopped in the middle of its answer, and the client's answer is incomplete. */
export function brokenOff({ host }: URL, cause: unknown): GatewayProblem {
  return new GatewayProblem(
    "upstream_broke_off",
    `${host} broke off its answer: ${messageOf(cause)}`,
    { cause },
  );
}

/** An endless answer would fill the memory of its run. */
export function tooLong(bytes: number): GatewayProblem {
  return new GatewayProblem(
    "answer_too_long",
    `the answer was longer than ${bytes / 1024 / 1024} MiB`,
  );
}

/** Redirects are never followed: the target would receive the key. */
export function assertNoRedirect({ status, headers }: UpstreamAnswer, { host }: URL): void {
  if (status < 300 || status >= 400) return;
  const target = headers.location === undefined ? "" : ` to ${originOf(headers.location)}`;
  throw new GatewayProblem(
    "upstream_redirect",
    `${host} redirects${target}, which the gateway does not follow; set baseUrl to where the API is`,
  );
}

/** Rejects an encoded answer: neither its usage nor secrets in it could be found. */
export function assertReadable({ headers }: UpstreamAnswer, { host }: URL): void {
  const encoding = headers["content-encoding"];
  if (encoding === undefined) return;
  throw new GatewayProblem(
    "upstream_encoding",
    `${host} compresses its answer as ${JSON.stringify(encoding)}, which the gateway does not read`,
  );
}

function originOf(location: string): string {
  return URL.canParse(location) ? new URL(location).origin : "another path";
}
