import type { CallUsage, UpstreamModel } from "../../../foundation/contracts/model-gateway.ts";
import type { Json } from "../../wire/json.ts";
import type { Problem } from "../../../foundation/errors.ts";
import type { Objects } from "./request-shape.ts";

/** One wire format: everything that the gateway knows of it. */
export interface WireApi {
  /** Null for an operation that the format's clients never use; `path` follows the base URL, with a leading slash. */
  readonly route: (path: string, query: URLSearchParams, model: UpstreamModel) => Route | null;
  /** The header with the key. */
  readonly keyHeader: (
    key: string,
    authType: UpstreamModel["authType"],
  ) => readonly [string, string];
  /** The body to send, with the model of the address and the option that makes the provider report usage. */
  readonly prepare: (body: Json, model: UpstreamModel) => Json;
  readonly limit: OutputLimit;
  /** Whether the request may write cache entries for one hour, which cost more; absent if the API lacks them. */
  readonly writesLongCache?: (body: Json) => boolean;
  /** The documented fields of its requests. */
  readonly request: Objects;
  /** The documented spelling of a field's name, if the API accepts several. */
  readonly spelling?: (name: string) => string;
  /** An error in the provider's own shape. */
  readonly errorBody: (problem: Problem) => object;
  /** Reads one event of a stream, or the one document of a plain answer. */
  readonly readEvent: (event: unknown) => EventReading;
  /** The tokens of a usage report. */
  readonly usageOf: (usage: Json) => CallUsage;
  /** How the command line of the format reacts to failures; absent for the usual way. */
  readonly cli?: CliRetries;
}

interface CliRetries {
  /** It obeys `x-should-retry`, and repeats a 400 with other fields. */
  readonly obeysShouldRetry?: true;
  /** It retries an answer that lacks its last event, but not one whose connection breaks. */
  readonly retriesMissingEnd?: true;
}

export interface Route {
  /** Path below the base URL. */
  readonly path: string;
  /** Fields of the query that are sent. */
  readonly query: Readonly<Record<string, string>>;
  /** False for operations that no provider bills, such as counting tokens. */
  readonly isMetered: boolean;
}

/** Place of the answer's limit in a request, in tokens. */
export interface OutputLimit {
  readonly read: (body: Json) => number | null;
  /** Tokens of the limit reserved for thinking; 0 without such a budget. */
  readonly thinkingBudget: (body: Json) => number;
  readonly write: (body: Json, tokens: number, model: UpstreamModel) => Json;
}

export interface EventReading {
  /** The provider's report so far; its fields replace those of earlier events. */
  readonly usage?: unknown;
  /** Whether no later event changes the usage. */
  readonly isLast?: boolean;
  /** UTF-8 bytes of text, thinking and arguments. */
  readonly bytes?: number;
  readonly serviceTier?: string | null;
}
