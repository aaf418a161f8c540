import type { IncomingMessage } from "node:http";
import { canonicalHost } from "../../../contracts/network-allow.ts";
import { endToEnd } from "../forward-headers.ts";
import type { UpstreamRequest } from "./upstream.ts";

/** A request that is not passed on. Its message says what is wrong and what to do. */
export class HeadRefusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Throws a `HeadRefusal` unless it is a request to the host and to no other that its server may know. */
export function assertForHost({ headers, url = "" }: IncomingMessage, host: string): void {
  if (headers.upgrade !== undefined)
    throw new HeadRefusal(403, `Upgrade is refused: the credential of ${host} needs plain HTTPS`);
  const asked = canonicalHost((headers.host ?? "").replace(/:443$/, ""));
  const isPath = url.startsWith("/") || url === "*";
  if (isPath && asked === host) return;
  throw new HeadRefusal(421, `this connection is to ${host}; open another one for another host`);
}

/** The request as the host gets it. Its answer has to be read on its way, so it may not be compressed. */
export function upstreamRequest(
  { method = "GET", url = "/", headers }: IncomingMessage,
  rawHeaders: readonly string[],
): UpstreamRequest {
  const kept = endToEnd(rawHeaders).filter(([name]) => name.toLowerCase() !== "accept-encoding");
  const own = ["accept-encoding", "identity", ...framing(method, headers)];
  return { method, path: url, headers: [...kept.flat(), ...own] };
}

const withBody = ["POST", "PUT", "PATCH"];

/** How the body ends; its length is among the headers that are passed on. */
function framing(method: string, headers: IncomingMessage["headers"]): string[] {
  if (headers["transfer-encoding"] !== undefined) return ["transfer-encoding", "chunked"];
  const needsLength = withBody.includes(method) && headers["content-length"] === undefined;
  return needsLength ? ["content-length", "0"] : [];
}
