import type { StoredDelivery } from "./interpret.ts";
import { providerTable } from "./providers/table.ts";

/** A stored body as an agent reads it: its JSON, also where the delivery was a form that held it. */
export function readablePayload({
  type,
  headers,
  body,
}: Pick<StoredDelivery, "type" | "headers" | "body">): string {
  const parsed = providerTable.get(type)?.parse({ headers, body });
  return parsed?.ok ? JSON.stringify(parsed.payload, null, 2) : Buffer.from(body).toString("utf8");
}
