import { valueAt } from "../../streams/where.ts";
import type { Receipt } from "../contracts/webhook-receipts.ts";
import type { Payload } from "./json.ts";
import { parseStored } from "./interpret.ts";

const mark = "[redacted]";

/** The JSON of a stored delivery for a person, without what its provider says is secret; null when it is none. */
export function shownPayload(receipt: Pick<Receipt, "type" | "headers" | "body">): Payload | null {
  const parsed = parseStored(receipt);
  return parsed && (parsed.provider.secretPaths ?? []).reduce(withoutSecret, parsed.payload);
}

/** An empty value stays: that there is no secret is worth seeing. */
function withoutSecret(payload: Payload, path: string): Payload {
  const value = valueAt(payload, path);
  return value === undefined || value === null || value === ""
    ? payload
    : replaced(payload, path.split("."));
}

/** All of the path is there. */
function replaced(payload: Payload, [key = "", ...rest]: readonly string[]): Payload {
  const inner = payload[key] as Payload;
  return { ...payload, [key]: rest.length === 0 ? mark : replaced(inner, rest) };
}
