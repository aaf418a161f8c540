import type { WebhookEvent } from "../../../streams/vocabulary.ts";
import type { FilterField } from "../../foundation/config/config-key.ts";
import type { WebhookFormat } from "../../foundation/config/webhook-format.ts";
import type { Parsed, Payload } from "./json.ts";

/** Request headers with lower-case names. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The received bytes, before any check. */
export interface Request {
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** Whether a request is from its provider; `why` is for the operator's log and holds nothing of secret or signature. */
export type Verdict = { readonly ok: true } | { readonly ok: false; readonly why: string };

/** The event's value for a filter; null or an empty list if the event carries none, and then no filter matches. */
export type Attribute = string | boolean | null | readonly string[];
export type Attributes = Readonly<Record<string, Attribute | undefined>>;

/** An event as its provider describes it: its fields, and further values for filters. */
export interface EventDescription extends EventFields {
  /** By the names of filters; a filter without an entry here compares the field of its name. */
  readonly attributes: Attributes;
  readonly optIn?: OptIn;
}

/** An event of a kind that an entry gets only if it asks for the kind: its filter has the value, or `where` the path. */
export interface OptIn {
  readonly filter: string;
  readonly value: string;
  readonly path: string;
}

/** A filter field and how it is compared. Lists match when any entry does; all given fields must match. */
export interface FilterRule extends FilterField {
  /** The attribute that it compares; without it the one of the same name. */
  readonly attribute?: string;
  /** For identifiers that their provider compares so: repository, organisation and login names, e-mail. */
  readonly ignoreCase?: true;
  /** The field keeps events out instead of letting them in. */
  readonly excludes?: true;
  /** Other names that people write for a value. */
  readonly aliases?: Readonly<Record<string, string>>;
}
export type FilterRules = Readonly<Record<string, FilterRule>>;

/** The input of `sign`; `now` is epoch ms, `id` becomes the delivery id where the provider has a header for it. */
export interface ToSign {
  readonly secret: string;
  readonly body: Uint8Array;
  readonly now: number;
  readonly id: string;
  /** Goes into the event header of providers that have one. */
  readonly event: string | null;
}

/** One provider's wire format. Nothing here throws, whatever the request holds. */
export interface Provider {
  /** Value of `type` in `[webhooks.<source>]` and of the path `/webhooks/<type>`. */
  readonly type: string;
  /** For the reference page: the proof of a delivery, and pitfalls, in markdown. */
  readonly about: { readonly proof: string; readonly note: string | null };
  /** Headers that hold a signature or a secret; never stored. */
  readonly secretHeaders: readonly string[];
  /** Dotted paths of secrets in the body that their names don't reveal; people are not shown them. */
  readonly secretPaths?: readonly string[];
  /** Headers that name the event and the delivery; stored, since a replay needs them. */
  readonly keptHeaders: readonly string[];
  /** The header that names the event, where the body doesn't. */
  readonly eventHeader?: string;
  /** An event that the header may name, for a hint; `issues` without it. */
  readonly exampleEvent?: string;
  /** Most selective first: the match index files a binding under the first list it has. */
  readonly filters: FilterRules;
  /** Checks the signature over the raw bytes, then the signed time where there is one. `now` is epoch ms. */
  verify(request: Request, secret: string, now: number): Verdict;
  /** Headers that `verify` accepts for this body; the body's own time, where it has one, is the caller's. */
  sign(request: ToSign): Readonly<Record<string, string>>;
  /** The body as it would be sent now, where it carries its own time; `now` is epoch ms. */
  atTime?(body: Uint8Array, now: number): Uint8Array;
  /** Reads the body, where it is more than one JSON object. */
  parse?(request: Request): Parsed;
  /** The provider's id of the delivery, the same when it delivers again. */
  deliveryId(payload: Payload, headers: Headers): string | null;
  /**
   * Present if no two deliveries have the same body, as it holds its time or its id: the same bytes are the same delivery,
   * though the id that came with them is not signed and may be another.
   */
  readonly isKnownByBody?: true;
  /**
   * The same for deliveries with other bodies and IDs that report the same event: each agent gets work of one of them.
   * Null if only repeated deliveries do.
   */
  dedupKey?(payload: Payload): string | null;
  /** The answer to a ping, a URL verification or a notice of the provider; null for an event. */
  answerPing?(payload: Payload, headers: Headers): Readonly<Record<string, unknown>> | null;
  /** The text of a provider's notice for the operator's log; null without one. */
  warning?(payload: Payload): string | null;
  /** True when the sender shows a person any other answer than an empty one. */
  isAnsweredEmpty?(headers: Headers): boolean;
  describe(payload: Payload, headers: Headers): EventDescription;
  /** The provider of one source, where the source's own keys describe the wire format. */
  forSource?(format: WebhookFormat): Provider;
}

/** The provider for the deliveries of one source of its type. */
export function forSource(provider: Provider, source: WebhookFormat): Provider {
  return provider.forSource?.(source) ?? provider;
}

/**
 * Filters that every provider has: they keep an agent from being started by its own echo. An event without a
 * sender is kept out by neither.
 */
export const commonFilters: FilterRules = {
  ignoreSenders: {
    kind: "strings",
    meaning: "Exclude events caused by these senders, by login, e-mail address or ID",
    attribute: "sender",
    ignoreCase: true,
    excludes: true,
  },
  ignoreBots: {
    kind: "boolean",
    meaning: "Exclude events caused by a bot or an integration",
    attribute: "senderIsBot",
    excludes: true,
  },
};

/** The fields of an event before its payload is read. */
type EventBase = Pick<WebhookEvent, "source" | "type" | "receiptId" | "timestamp">;

/** The fields of an event by its provider; missing ones are null. */
export type EventFields = Partial<Omit<WebhookEvent, keyof EventBase | "event">> & {
  readonly event: string;
};

/** As long as the longest text that the code-hosting provider takes: only other providers' texts are ever cut. */
const maxBody = 65_536;
const maxText = 1_000;
const maxLabels = 100;

/** A normalized event. Texts are cut to a bounded length, since each work item carries its own copy. */
export function webhookEvent(base: EventBase, fields: EventFields): WebhookEvent {
  return {
    ...base,
    event: cut(fields.event, maxText),
    action: short(fields.action),
    repo: short(fields.repo),
    number: fields.number ?? null,
    title: short(fields.title),
    body: longText(fields.body, base.receiptId),
    url: short(fields.url),
    author: short(fields.author),
    labels: (fields.labels ?? []).slice(0, maxLabels).map((label) => cut(label, maxText)),
    sender: short(fields.sender),
    branch: short(fields.branch),
    conclusion: short(fields.conclusion),
    ...(isCommit(fields.headSha) && { headSha: fields.headSha }),
  };
}

/** A whole hash; zeros stand for a deleted ref, and some senders shorten hashes. */
function isCommit(hash: string | null | undefined): hash is string {
  return /^(?!0+$)([0-9a-f]{40}|[0-9a-f]{64})$/.test(hash ?? "");
}

function short(value: string | null | undefined): string | null {
  return value === null || value === undefined ? null : cut(value, maxText);
}

function longText(value: string | null | undefined, receiptId: string): string | null {
  if (value === null || value === undefined || value.length <= maxBody) return value ?? null;
  return `${cut(value, maxBody)}\n[cut here; receipt ${receiptId} contains the whole payload]`;
}

/** Never ends in half of a surrogate pair: such a text is not valid UTF-8 when it is written. */
function cut(value: string, length: number): string {
  return value.length <= length ? value : value.slice(0, length).replace(/[\uD800-\uDBFF]$/, "");
}

/** A delivery as it came in, before anything was verified. */
export interface Delivery {
  /** Provider type of the path, `/webhooks/<type>`. */
  readonly type: string;
  /** Source of the path, `/webhooks/<type>/<source>`; null without one. */
  readonly source: string | null;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/** The answer to a delivery. */
export type DeliveryAnswer =
  | { readonly status: 200; readonly body: Readonly<Record<string, unknown>> | null }
  | {
      readonly status: 400 | 401 | 403 | 404 | 413 | 503;
      /** Short stable code such as `bad_signature`. */
      readonly error: string;
      readonly detail: string;
    };

/** The result of one delivery, for counters. `type` is a known type or `unknown`; `source` is null until verified. */
export interface DeliveryCount {
  readonly type: string;
  readonly source: string | null;
  readonly result:
    | "accepted"
    | "unmatched"
    | "duplicate"
    | "ping"
    | "unverified"
    | "malformed"
    | "not_found"
    | "unavailable";
}
