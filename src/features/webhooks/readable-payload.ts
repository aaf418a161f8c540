import { maxReadableBytes } from "../../foundation/contracts/body-limits.ts";
import { parseStored } from "./interpret.ts";
import type { StoredDelivery } from "./interpret.ts";

/** Deeper than any provider's bodies: indented, it would take the square of its depth, and far deeper ends the stack. */
const maxDepth = 64;

/**
 * A stored body as an agent reads it: its JSON, indented unless it is large, also where the delivery was a form that
 * held it. The text as it came where that is no JSON or nested too deep.
 */
export function readablePayload(
  delivery: Pick<StoredDelivery, "type" | "headers" | "body">,
): string {
  const payload = parseStored(delivery)?.payload;
  if (payload === undefined || isDeeper(payload, maxDepth)) {
    return Buffer.from(delivery.body).toString("utf8");
  }
  const indent = delivery.body.byteLength > maxReadableBytes ? 0 : 2;
  return JSON.stringify(payload, null, indent);
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((inner) => isDeeper(inner, depth - 1));
}
