import type { RemoteSpan } from "../../../streams/vocabulary.ts";

/** A `traceparent` header (https://www.w3.org/TR/trace-context); null if it is none. */
export function parseTraceparent(header: string | null): RemoteSpan | null {
  const [, traceId = "", spanId = ""] =
    /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}$/.exec(header ?? "") ?? [];
  return traceId === "" ? null : { traceId, spanId };
}
