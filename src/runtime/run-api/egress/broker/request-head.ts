import type { IncomingMessage } from "node:http";
import { canonicalHost } from "../../../../foundation/contracts/network-allow.ts";
import { withoutHeaders } from "../../../../foundation/contracts/http-proxy.ts";
import { bracketed } from "../../../../foundation/contracts/host-and-port.ts";
import { requestLines } from "../forward-headers.ts";
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

/** With a range, an answer could repeat a secret in parts, which no mask recognizes. */
const replaced = new Set(["accept-encoding", "connection", "range", "if-range"]);

/**
 * The request as the host gets it, with one Host. Its answer has to be read on its way, so it may not be compressed. Throws
 * a `HeadRefusal` when its body is coded in a way that is not passed on.
 */
export function upstreamRequest(
  { method = "GET", url = "/", headers }: IncomingMessage,
  host: string,
  rawHeaders: readonly string[],
): UpstreamRequest {
  const lines = requestLines(rawHeaders);
  if (lines === null) throw new HeadRefusal(501, "no transfer-encoding but chunked is passed on");
  const own = ["host", bracketed(host), "accept-encoding", "identity"];
  const kept = withoutHeaders(lines, replaced);
  return { method, path: url, headers: [...own, ...kept, ...missingLength(method, headers)] };
}

const withBody = ["POST", "PUT", "PATCH"];

/** Without it, Node takes an empty body for one in chunks. */
function missingLength(method: string, headers: IncomingMessage["headers"]): string[] {
  const { "transfer-encoding": coding, "content-length": length } = headers;
  const isEmpty = coding === undefined && length === undefined;
  return isEmpty && withBody.includes(method) ? ["content-length", "0"] : [];
}
