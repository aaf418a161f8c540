import { usualBytesPerToken } from "../../../features/spend/rules/input-estimate.ts";
import type { CallEnd } from "../../../foundation/contracts/model-gateway.ts";
import { hasTokens } from "./usage-tap.ts";
import type { UsageTap } from "./usage-tap.ts";
import type { UsageReading } from "./wire-api.ts";

/** What was seen of a call so far. */
export interface SeenOfCall {
  readonly requestBytes: number;
  /** A time of `performance.now()`. */
  readonly began: number;
  firstByteMs: number | null;
  status: number | null;
  /** Null for an answer that is not the model's. */
  tap: UsageTap | null;
  /** Whether the provider may bill a call of which no answer was seen. */
  mayBeBilled: boolean;
}

/** `isCut`: the answer was not read to its end, and the provider did not end it. */
export function endOfCall(seen: SeenOfCall, isCut: boolean): CallEnd {
  const { began, firstByteMs, status, tap, requestBytes } = seen;
  const isUnseen = status === null && seen.mayBeBilled;
  const reading = tap?.end() ?? (isUnseen ? nothingRead : null);
  const { usage, estimated } = reading === null ? unbilled : usageOf(reading, requestBytes);
  return {
    status,
    usage,
    estimated,
    isCut: isCut && estimated,
    serviceTier: reading?.serviceTier ?? null,
    firstByteMs: firstByteMs === null ? null : Math.round(firstByteMs),
    totalMs: Math.round(performance.now() - began),
  };
}

const nothingRead: UsageReading = {
  usage: null,
  isFinal: false,
  outputBytes: 0,
  hasFailed: false,
  serviceTier: null,
};

const unbilled = { usage: null, estimated: false } as const;

/** What a call used: as the provider reports it, else by the bytes that were seen of it. */
function usageOf(
  { usage: reported, isFinal, outputBytes, hasFailed }: UsageReading,
  requestBytes: number,
): Pick<CallEnd, "usage" | "estimated"> {
  const usage = hasTokens(reported) ? reported : null;
  // An answer with a text and without tokens was not counted.
  const isCounted = usage !== null && (usage.output > 0 || outputBytes === 0);
  if (isCounted && isFinal) return { usage, estimated: false };
  // The provider failed before the model began.
  if (usage === null && hasFailed && outputBytes === 0) return unbilled;
  const input = Math.ceil(requestBytes / usualBytesPerToken);
  const known = usage ?? { input, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 0 };
  const output = Math.max(known.output, Math.ceil(outputBytes / usualBytesPerToken));
  return { usage: { ...known, output }, estimated: true };
}
