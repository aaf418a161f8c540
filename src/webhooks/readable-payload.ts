import type { StoredDelivery } from "./interpret.ts";
import type { Payload } from "./json.ts";
import { providerTable } from "./providers/table.ts";

type Stored = Pick<StoredDelivery, "type" | "headers" | "body">;

/** A stored body as an agent reads it: its JSON, also where the delivery was a form that held it. */
export function readablePayload(delivery: Stored): string {
  const payload = payloadIn(delivery);
  return payload === null
    ? Buffer.from(delivery.body).toString("utf8")
    : JSON.stringify(payload, null, 2);
}

/** The JSON of a stored delivery; null when it is none. */
export function payloadIn({ type, headers, body }: Stored): Payload | null {
  const parsed = providerTable.get(type)?.parse({ headers, body });
  return parsed?.ok ? parsed.payload : null;
}
