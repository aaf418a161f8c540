import type { FilterField } from "../../foundation/contracts/webhook-filters.ts";
import type { EventFields } from "./event.ts";
import type { Parsed, Payload } from "./json.ts";

/** Request headers with lower-case names. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The bytes that came in, before anything was believed. */
export interface Request {
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** Whether a request is from its provider; `why` is for the operator's log and holds nothing of secret or signature. */
export type Verdict = { readonly ok: true } | { readonly ok: false; readonly why: string };

/** What a filter is compared with; null or an empty list where the event carries none, and then no filter matches. */
export type Attribute = string | boolean | null | readonly string[];
export type Attributes = Readonly<Record<string, Attribute | undefined>>;

/** An event as its provider describes it: its fields, and what filters compare beside them. */
export interface EventDescription extends EventFields {
  /** By the names of filters; a filter without an entry here compares the field of its name. */
  readonly attributes: Attributes;
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

/** What `sign` needs; `now` is epoch ms, `id` becomes the delivery id where the provider has a header for it. */
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
  /** For the reference page: what proves a delivery, and what people stumble over, in markdown. */
  readonly about: { readonly proof: string; readonly note: string | null };
  /** Headers that hold a signature or a secret; never stored. */
  readonly secretHeaders: readonly string[];
  /** Dotted paths of secrets in the body that their names don't reveal; people are not shown them. */
  readonly secretPaths?: readonly string[];
  /** Headers that name the event and the delivery; stored, since a replay needs them. */
  readonly keptHeaders: readonly string[];
  /** The header that names the event, where the body doesn't. */
  readonly eventHeader?: string;
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
  /** What a ping or URL verification is answered with; null for an event. */
  answerPing?(payload: Payload, headers: Headers): Readonly<Record<string, unknown>> | null;
  /** True when the sender shows a person any other answer than an empty one. */
  isAnsweredEmpty?(headers: Headers): boolean;
  describe(payload: Payload, headers: Headers): EventDescription;
}
