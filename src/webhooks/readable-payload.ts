import { maxReadableBytes } from "../contracts/body-limits.ts";
import type { StoredDelivery } from "./interpret.ts";
import type { Payload } from "./json.ts";
import { providerTable } from "./providers/table.ts";

type Stored = Pick<StoredDelivery, "type" | "headers" | "body">;

/** Deeper than any provider's bodies: indented, it would take the square of its depth, and far deeper ends the stack. */
const maxDepth = 64;

/**
 * A stored body as an agent reads it: its JSON, indented unless it is large, also where the delivery was a form that
 * held it. The text as it came where that is no JSON or nested too deep.
 */
export function readablePayload(delivery: Stored): string {
  const payload = payloadIn(delivery);
  if (payload === null || isDeeper(payload, maxDepth)) {
    return Buffer.from(delivery.body).toString("utf8");
  }
  const indent = delivery.body.byteLength > maxReadableBytes ? 0 : 2;
  return JSON.stringify(payload, null, indent);
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((inner) => isDeeper(inner, depth - 1));
}

/** The JSON of a stored delivery; null when it is none. */
function payloadIn({ type, headers, body }: Stored): Payload | null {
  const parsed = providerTable.get(type)?.parse({ headers, body });
  return parsed?.ok ? parsed.payload : null;
}
