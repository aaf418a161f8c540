import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { EgressRefusal } from "../decide.ts";
import type { Authority } from "../authority.ts";
import { SentinelGuard } from "./sentinel-guard.ts";
import { SentinelRefusal, substituted } from "./substitute.ts";

/** Throws an `EgressRefusal` when the head of a request without TLS holds a sentinel: no secret leaves by such a one. */
export function assertNoSentinel({ rawHeaders }: IncomingMessage, asked: Authority, url: string) {
  try {
    substituted({ host: asked.host, url, rawHeaders }, []);
  } catch (error) {
    throw error instanceof SentinelRefusal
      ? new EgressRefusal("sentinel", asked, { more: `in ${error.where}` })
      : error;
  }
}

/** Its body; fails with an `EgressRefusal` where a sentinel begins. */
export function bodyWithoutSentinel(request: IncomingMessage, asked: Authority): Readable {
  const refusal = () => new EgressRefusal("sentinel", asked, { more: "in the body" });
  return request.pipe(new SentinelGuard(refusal));
}
