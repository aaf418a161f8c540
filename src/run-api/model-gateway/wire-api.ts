import type { CallUsage, UpstreamModel } from "../../contracts/model-gateway.ts";
import type { Json } from "./json.ts";

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
  readonly providerSide: ProviderSideRules;
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

/**
 * What of a request would make the provider act beyond the one answer: run tools on its own machines, fetch a URL, read
 * what is stored with it, or bill by another price than the model's own. Each has a name, by which
 * `[models.<name>].providerTools` allows it. Only tools that are known to run in the client pass without a name.
 */
export interface ProviderSideRules {
  /** The names of what a declared tool makes the provider do; none for one that the client runs. */
  readonly toolNames: (tool: unknown) => readonly string[];
  /** Fields of the body that hold messages. */
  readonly messageFields: readonly string[];
  /** The name of what a part of a message makes the provider do. */
  readonly contentName: (part: Json) => string | null;
  /** Fields of messages with arguments and results of tools, which are any JSON. */
  readonly opaqueFields: ReadonlySet<string>;
  /** The names of what fields of the body make the provider do. */
  readonly bodyNames: (body: Json) => readonly string[];
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
