import type { IncomingHttpHeaders } from "node:http";
import { StringDecoder } from "node:string_decoder";
import { createParser } from "eventsource-parser";
import { inputOf } from "../../../foundation/contracts/price.ts";
import type { CallUsage, CallEnd } from "../../../foundation/contracts/model-gateway.ts";
import { at, isObject, numberAt, type Json } from "../../wire/json.ts";
import { createFacts, hasFailed, noFacts, type AnswerFacts } from "./answer-facts.ts";
import type { GatewayProblem } from "./gateway-problem.ts";
import type { WireApi } from "./wire-api.ts";
import {
  usageOfRequest,
  usualBytesPerToken,
} from "../../../features/spend/rules/input-estimate.ts";

/** The reading of an answer so far. */
interface AnswerReading {
  /** The usage reported by the provider. */
  readonly usage: CallUsage | null;
  /** The cost reported by the provider. */
  readonly usd: number | null;
  /** Whether no later event changes it. */
  readonly isFinal: boolean;
  /** UTF-8 bytes of the text, thinking and arguments that were streamed. */
  readonly outputBytes: number;
  /** Whether the answer ended with an error inside of a stream. */
  readonly hasFailed: boolean;
  readonly serviceTier: string | null;
  readonly facts: AnswerFacts;
}

/** Reads an answer by its events, in any wire format. */
export function createAnswerReader({ readEvent, usageOf }: WireApi) {
  let usage: Json | null = null;
  let serviceTier: string | null = null;
  let isLast = false;
  let outputBytes = 0;
  const facts = createFacts();
  return {
    take: (event: unknown): void => {
      const read = readEvent(event);
      if (isObject(read.usage)) usage = { ...usage, ...withoutNulls(read.usage) };
      serviceTier = read.serviceTier ?? serviceTier;
      isLast ||= read.isLast === true;
      outputBytes += read.bytes ?? 0;
      facts.take(event);
    },
    read: (): AnswerReading => ({
      usage: usage === null ? null : usageOf(usage),
      usd: usage === null ? null : usdOf(usage),
      isFinal: usage !== null && isLast,
      outputBytes,
      hasFailed: hasFailed(facts.read()),
      serviceTier,
      facts: facts.read(),
    }),
  };
}

type AnswerReader = ReturnType<typeof createAnswerReader>;

/**
 * The cost that OpenRouter reports with each usage, in any API; with a key of one's own, that of the model's provider comes
 * on top. Source: openrouter.ai, "Usage Accounting".
 */
function usdOf(usage: Json): number | null {
  const charged = numberAt(usage, "cost");
  if (charged === null) return null;
  const upstream = numberAt(usage, "cost_details", "upstream_inference_cost") ?? 0;
  return Math.max(0, charged) + (at(usage, "is_byok") === false ? 0 : Math.max(0, upstream));
}

function withoutNulls(usage: Json): Json {
  return Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null));
}

interface Tap {
  readonly chunk: (bytes: Buffer) => void;
  /** Must be called when the last byte has passed or the answer was cut. */
  readonly end: () => AnswerReading;
}

/** Reads an answer as it passes. */
interface AnswerTap extends Tap {
  /** The reading so far. */
  readonly read: () => AnswerReading;
}

/** The longest event or document that is read, in characters; the usage of a longer one is estimated. */
const maxLength = 64 * 1024 * 1024;

/** Reads an answer as a document or a stream, by its content type; null for HTML, which no model sends. */
export function createAnswerTap(contentType: string, format: WireApi): AnswerTap | null {
  if (/\bhtml\b/i.test(contentType)) return null;
  const reader = createAnswerReader(format);
  const { chunk, end } = /\bjson\b/i.test(contentType) ? documentTap(reader) : streamTap(reader);
  let reading: AnswerReading | null = null;
  return { chunk, read: reader.read, end: () => (reading ??= end()) };
}

function streamTap(reader: AnswerReader): Tap {
  const decoder = new StringDecoder("utf8");
  let [bytesSeen, eventsRead] = [0, 0];
  let isReadable = true;
  const parser = createParser({
    maxBufferSize: maxLength,
    onEvent: ({ data }) => {
      if (data !== "[DONE]" && takeJson(data, reader)) eventsRead += 1;
    },
    onError: ({ type }) => {
      if (type === "max-buffer-size-exceeded") isReadable = false;
    },
  });
  return {
    chunk: (bytes) => {
      bytesSeen += bytes.length;
      if (isReadable) parser.feed(decoder.write(bytes));
    },
    end: () => {
      // A last event without the blank line after it is complete if its JSON is.
      if (isReadable) parser.feed("\n\n");
      const reading = reader.read();
      // An answer without any event has an unknown format, and all of its bytes may be output.
      return eventsRead > 0 ? reading : { ...reading, outputBytes: bytesSeen };
    },
  };
}

function documentTap(reader: AnswerReader): Tap {
  const chunks: Buffer[] = [];
  let length = 0;
  return {
    chunk: (bytes) => {
      length += bytes.length;
      if (length <= maxLength) chunks.push(bytes);
      else chunks.length = 0;
    },
    end: () => {
      const isTaken = takeJson(Buffer.concat(chunks).toString("utf8"), reader);
      const reading = reader.read();
      const { usage, hasFailed } = reading;
      const outputBytes = hasFailed || hasTokens(usage) ? reading.outputBytes : length;
      // Some servers omit the finish reason in a document.
      return { ...reading, isFinal: isTaken && usage !== null, outputBytes };
    },
  };
}

/** False if usage is missing or all zeros (some servers report none). */
function hasTokens(usage: CallUsage | null): usage is CallUsage {
  return usage !== null && inputOf(usage) > 0;
}

/** False if the text isn't JSON; the client reports that error. */
function takeJson(text: string, reader: AnswerReader): boolean {
  try {
    reader.take(JSON.parse(text));
    return true;
  } catch {
    return false;
  }
}

/** Progress of a call so far. */
export interface SeenOfCall {
  requestBytes: number;
  /** A time of `performance.now()`. */
  began: number;
  firstByteMs: number | null;
  status: number | null;
  /** Null for an answer that is not from the model, and when it has ended. */
  tap: AnswerTap | null;
  /** Of an answer that has ended. */
  facts: AnswerFacts;
  /** An answer with an error status, and the beginning of its body. */
  refused: { readonly headers: IncomingHttpHeaders; text: string } | null;
  /** Why the gateway refused or ended the call. */
  problem: GatewayProblem | null;
  /** Whether the client had the beginning of an answer by then. */
  isBegun: boolean;
  /** How long the provider was silent when the call was ended for it, in ms. */
  silentMs: number | null;
  /** Whether the provider may bill the call although it has not answered. */
  mayBeBilled: boolean;
}

export function newCall(): SeenOfCall {
  return {
    requestBytes: 0,
    began: performance.now(),
    firstByteMs: null,
    status: null,
    tap: null,
    facts: noFacts,
    refused: null,
    problem: null,
    isBegun: false,
    silentMs: null,
    mayBeBilled: false,
  };
}

/** `isCut`: the answer was not read to its end, and the provider did not end it; `isHungUp`: because of its run. */
export function endOfCall(seen: SeenOfCall, isCut: boolean, isHungUp: boolean): CallEnd {
  const isUnseen = seen.status === null && seen.mayBeBilled;
  const read = seen.tap?.end();
  seen.facts = read?.facts ?? noFacts;
  // The verdict on the call outlives it, and must not hold its answer.
  seen.tap = null;
  const end = endBy(read ?? (isUnseen ? nothingRead : null), seen);
  return { ...end, isCut: isCut && end.estimated, isHungUp: isHungUp && end.estimated };
}

/** The call as if the answer broke off now. */
export function callSoFar(seen: SeenOfCall): CallEnd {
  return endBy(seen.tap?.read() ?? null, seen);
}

function endBy(
  reading: Omit<AnswerReading, "facts"> | null,
  { began, firstByteMs, status, requestBytes }: SeenOfCall,
): CallEnd {
  const { usage, estimated } = reading === null ? unbilled : usageOf(reading, requestBytes);
  return {
    status,
    usage,
    estimated,
    usd: estimated ? null : (reading?.usd ?? null),
    isCut: false,
    isHungUp: false,
    serviceTier: reading?.serviceTier ?? null,
    firstByteMs: firstByteMs === null ? null : Math.round(firstByteMs),
    totalMs: Math.round(performance.now() - began),
  };
}

const nothingRead = {
  usage: null,
  usd: null,
  isFinal: false,
  outputBytes: 0,
  hasFailed: false,
  serviceTier: null,
};

const unbilled = { usage: null, estimated: false } as const;

/** A call's usage: the provider's report, else an estimate by the bytes of request and answer. */
function usageOf(
  {
    usage: reported,
    isFinal,
    outputBytes,
    hasFailed,
  }: Omit<AnswerReading, "facts" | "serviceTier">,
  requestBytes: number,
) {
  const usage = hasTokens(reported) ? reported : null;
  // A report of zero output tokens for an answer with text is wrong.
  const isCounted = usage !== null && (usage.output > 0 || outputBytes === 0);
  if (isCounted && isFinal) return { usage, estimated: false };
  // The provider failed before the model began.
  if (usage === null && hasFailed && outputBytes === 0) return unbilled;
  const known = usage ?? usageOfRequest(requestBytes);
  const output = Math.max(known.output, Math.ceil(outputBytes / usualBytesPerToken));
  return { usage: { ...known, output }, estimated: true };
}
