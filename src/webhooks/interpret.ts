import type { WebhookEvent } from "../../streams/vocabulary.ts";
import type { Facts, Headers, Provider, Request } from "./provider.ts";
import { providerTable } from "./providers/table.ts";
import { header } from "./signature.ts";
import type { Payload } from "./json.ts";

/** A delivery as agents and filters see it. */
export interface Interpreted {
  readonly event: WebhookEvent;
  readonly facts: Facts;
  readonly payload: Payload;
}

/** What a receipt says of itself when it is read again. `at` is epoch ms. */
export interface StoredDelivery extends Request {
  readonly id: string;
  readonly at: number;
  readonly source: string;
  readonly type: string;
}

/** Normalizes a payload that `parse` gave. */
export function interpret(
  provider: Provider,
  { payload, headers }: { readonly payload: Payload; readonly headers: Headers },
  { id, at, source }: { readonly id: string; readonly at: number; readonly source: string },
): Interpreted {
  const timestamp = new Date(at).toISOString();
  const base = { source, type: provider.type, receiptId: id, timestamp };
  return {
    event: provider.normalize(payload, headers, base),
    facts: provider.facts(payload, headers),
    payload,
  };
}

/** Reads a stored receipt again, for a replay; no signature is asked for. Null when it is none of a known type. */
export function interpretStored(stored: StoredDelivery): Interpreted | null {
  const provider = providerTable.get(stored.type);
  const parsed = provider?.parse(stored);
  if (provider === undefined || !parsed?.ok) return null;
  return interpret(provider, { payload: parsed.payload, headers: stored.headers }, stored);
}

const maxHeader = 500;

/** The headers that a receipt keeps. An allow-list: what is not named here may be a secret. */
export function keptHeaders(provider: Provider, headers: Headers): Record<string, string> {
  const names = ["content-type", "user-agent", ...provider.keptHeaders];
  const kept: Record<string, string> = {};
  for (const name of names) {
    const value = header(headers, name);
    if (value !== null) kept[name] = value.slice(0, maxHeader);
  }
  return kept;
}
