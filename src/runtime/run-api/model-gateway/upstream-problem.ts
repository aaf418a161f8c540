import { messageOf } from "../../../foundation/errors.ts";
import { GatewayProblem } from "./gateway-problem.ts";
import { UpstreamTimeout } from "./upstream.ts";
import type { UpstreamAnswer } from "./upstream.ts";

/** A provider that gave no answer: the client retries it as it retries a provider in trouble. */
export function unreachable({ host }: URL, cause: unknown): GatewayProblem {
  const isLate = cause instanceof UpstreamTimeout;
  const message = isLate
    ? `${host} sent nothing for too long`
    : `${host} cannot be reached: ${messageOf(cause)}`;
  const [status, code] = isLate ? [504, "upstream_timeout"] : [502, "upstream_unreachable"];
  return new GatewayProblem({ status, code, message }, { isPassing: true, cause });
}

/** A provider that stopped in the middle of its answer: the client sees that it has no end. */
export function brokenOff({ host }: URL, cause: unknown): GatewayProblem {
  const message = `${host} broke its answer off: ${messageOf(cause)}`;
  const problem = { status: 502, code: "upstream_broke_off", message };
  return new GatewayProblem(problem, { isPassing: true, cause });
}

/** A redirect is never followed: the key would go to wherever it points. */
export function assertNoRedirect({ status, headers }: UpstreamAnswer, { host }: URL): void {
  if (status < 300 || status >= 400) return;
  const target = headers.location === undefined ? "" : ` to ${originOf(headers.location)}`;
  const message = `${host} redirects${target}, which the gateway does not follow; set baseUrl to where the API is`;
  throw new GatewayProblem({ status: 502, code: "upstream_redirect", message });
}

/** Its usage could not be read, nor what else is in it. */
export function assertReadable({ headers }: UpstreamAnswer, { host }: URL): void {
  const encoding = headers["content-encoding"];
  if (encoding === undefined) return;
  const message = `${host} compresses its answer as ${JSON.stringify(encoding)}, which the gateway does not read`;
  throw new GatewayProblem({ status: 502, code: "upstream_encoding", message });
}

function originOf(location: string): string {
  return URL.canParse(location) ? new URL(location).origin : "another path";
}
