import { isoTime } from "../../../streams/iso-times.ts";
import type { WebhookEvent } from "../../../streams/vocabulary.ts";
import type { WebhookSource } from "../../foundation/config/project-config.ts";
import { forSource, webhookEvent } from "./provider.ts";
import { parseJsonBody, type Parsed, type Payload } from "./json.ts";
import type { Attributes, Headers, OptIn, Provider, Request } from "./provider.ts";
import { providerTable } from "./providers/table.ts";
import type { Acceptance } from "../../foundation/store/receipts.ts";
import { header } from "./signature.ts";
import { maxReadableBytes } from "../../foundation/contracts/body-limits.ts";

/** A delivery as agents and filters see it. */
export interface Interpreted {
  readonly event: WebhookEvent;
  readonly attributes: Attributes;
  readonly payload: Payload;
  readonly optIn?: OptIn;
  readonly identity: Identity;
}

/** How a delivery is recognized as a repeated one, besides its id. */
export type Identity = Pick<Acceptance, "isKnownByBody" | "dedupKey">;

interface TypedRequest extends Request {
  readonly type: string;
}

/** The parts of a receipt that are read again. `at` is epoch ms. */
export interface StoredDelivery extends TypedRequest {
  readonly id: string;
  readonly at: number;
  readonly source: string;
}

/** Normalizes a payload that `parse` gave. */
export function interpret(
  provider: Provider,
  { payload, headers }: { readonly payload: Payload; readonly headers: Headers },
  { id, at, source }: { readonly id: string; readonly at: number; readonly source: string },
): Interpreted {
  const timestamp = isoTime(at);
  const { attributes, optIn, ...fields } = provider.describe(payload, headers);
  return {
    event: webhookEvent({ source, type: provider.type, receiptId: id, timestamp }, fields),
    attributes: {
      events: fields.event,
      actions: fields.action,
      repos: fields.repo,
      labels: fields.labels,
      author: fields.author,
      branches: fields.branch,
      conclusions: fields.conclusion,
      sender: fields.sender,
      ...attributes,
    },
    payload,
    ...(optIn && { optIn }),
    identity: identityOf(provider, payload),
  };
}

/** Longer than the keys of all providers. */
const maxDedupKey = 200;

function identityOf(provider: Provider, payload: Payload): Identity {
  const dedupKey = provider.dedupKey?.(payload) ?? null;
  return {
    ...(provider.isKnownByBody && { isKnownByBody: true }),
    ...(dedupKey !== null && dedupKey.length <= maxDedupKey && { dedupKey }),
  };
}

/** Reads the body of a delivery. */
export function parseDelivery(provider: Provider, request: Request): Parsed {
  return provider.parse?.(request) ?? parseJsonBody(request.body);
}

/** The JSON of a stored delivery with its provider; null when its type is not known. */
export function parseStored({ type, headers, body }: TypedRequest): {
  readonly provider: Provider;
  readonly payload: Payload;
} | null {
  const provider = providerTable.get(type);
  if (provider === undefined) return null;
  const parsed = parseDelivery(provider, { headers, body });
  return parsed.ok ? { provider, payload: parsed.payload } : null;
}

/**
 * Reads a stored receipt again, for a replay, as its source reads deliveries now; no signature is asked for. Null when
 * its type is not known.
 */
export function interpretStored(
  stored: StoredDelivery,
  sources: Readonly<Record<string, WebhookSource>>,
): Interpreted | null {
  const parsed = parseStored(stored);
  if (parsed === null) return null;
  const { payload } = parsed;
  const source = Object.hasOwn(sources, stored.source) ? sources[stored.source] : undefined;
  const provider = forSource(parsed.provider, source ?? {});
  return interpret(provider, { payload, headers: stored.headers }, stored);
}

const maxHeader = 500;

/** The headers that a receipt keeps. An allow list: any other header may be a secret. */
export function keptHeaders(provider: Provider, headers: Headers): Record<string, string> {
  const names = ["content-type", "user-agent", ...provider.keptHeaders];
  const kept: Record<string, string> = {};
  for (const name of names) {
    const value = header(headers, name);
    if (value !== null) kept[name] = value.slice(0, maxHeader);
  }
  return kept;
}

/** Deeper than any provider's bodies. Indenting takes the square of the depth, and far deeper overflows the stack. */
const maxDepth = 64;

/**
 * A stored body as an agent reads it: its JSON, indented unless it is large, also where the delivery was a form that
 * held it. The text as it came if it is not JSON or nested too deep.
 */
export function readablePayload(delivery: TypedRequest): string {
  const payload = parseStored(delivery)?.payload;
  if (payload === undefined || isDeeper(payload, maxDepth)) {
    return Buffer.from(delivery.body).toString("utf8");
  }
  const indent = delivery.body.byteLength > maxReadableBytes ? 0 : 2;
  return JSON.stringify(payload, null, indent);
}

/** Stored deliveries as an agent reads them: a JSON list of their events, each with its payload, or its body as text. */
export function deliveriesText(
  deliveries: readonly StoredDelivery[],
  sources: Readonly<Record<string, WebhookSource>>,
): string {
  const all = deliveries.map((delivery) => {
    const read = interpretStored(delivery, sources);
    return read === null || isDeeper(read.payload, maxDepth)
      ? { receiptId: delivery.id, body: Buffer.from(delivery.body).toString("utf8") }
      : { ...read.event, payload: read.payload };
  });
  return JSON.stringify(all, null, 2);
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((inner) => isDeeper(inner, depth - 1));
}
