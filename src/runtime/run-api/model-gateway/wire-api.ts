import type { CallUsage, UpstreamModel } from "../../../foundation/contracts/model-gateway.ts";
import type { Json } from "./json.ts";
import type { Objects } from "./request-shape.ts";

/** One wire format: everything that the gateway knows of it. */
export interface WireApi {
  /** Null for what the format's clients never ask; `path` is what follows the base URL, with a slash in front. */
  readonly route: (path: string, query: URLSearchParams, model: UpstreamModel) => Route | null;
  /** The header that carries the key. */
  readonly keyHeader: (
    key: string,
    authType: UpstreamModel["authType"],
  ) => readonly [string, string];
  /** The body as it is sent: with the model of the address, and with what makes the usage known. */
  readonly prepare: (body: Json, model: UpstreamModel) => Json;
  readonly limit: OutputLimit;
  /** Whether the request may write cache entries for one hour, which cost more; absent where no API has them. */
  readonly writesLongCache?: (body: Json) => boolean;
  /** The documented fields of its requests. */
  readonly request: Objects;
  /** The documented spelling of a field's name, where the API takes several. */
  readonly spelling?: (name: string) => string;
  /** An error in the provider's own shape. */
  readonly errorBody: (problem: Problem) => object;
  readonly createUsageReader: () => UsageReader;
}

export interface Route {
  /** What follows the base URL. */
  readonly path: string;
  /** Fields of the query that are sent. */
  readonly query: Readonly<Record<string, string>>;
  /** False for what no provider bills, such as a count of tokens. */
  readonly isMetered: boolean;
}

/** Where a request has the limit of its answer, in tokens. */
export interface OutputLimit {
  readonly read: (body: Json) => number | null;
  /** Tokens among them that are for thinking alone; 0 without such a budget. */
  readonly thinkingBudget: (body: Json) => number;
  readonly write: (body: Json, tokens: number, model: UpstreamModel) => Json;
}

export interface Problem {
  readonly status: number;
  /** For programs, such as `budget_exceeded`. */
  readonly code: string;
  /** For a person. */
  readonly message: string;
}

/** Reads the usage out of an answer: out of each event of a stream, or out of the one document of a plain answer. */
export interface UsageReader {
  readonly take: (event: unknown) => void;
  readonly read: () => UsageReading;
}

export interface UsageReading {
  /** As the provider reported it so far. */
  readonly usage: CallUsage | null;
  /** Whether no later event changes it. */
  readonly isFinal: boolean;
  /** UTF-8 bytes of the text, thinking and arguments that were streamed. */
  readonly outputBytes: number;
  /** Whether the answer ended with an error inside of a stream. */
  readonly hasFailed: boolean;
  readonly serviceTier: string | null;
}
