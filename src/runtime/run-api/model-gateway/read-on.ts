import type { Exchange } from "./exchange.ts";

export interface ReadOnLimits {
  /** How long an answer is read whose client hung up, from its next piece on, in ms. */
  readonly readOnMs: number;
  /** How much of it, in bytes. */
  readonly readOnBytes: number;
  /** Calls that are read without their clients at the same time. */
  readonly readOnCalls: number;
}

/**
 * Most answers end within the minute; 128,000 tokens in events of 300 bytes are 37 MiB. A call to a provider that is silent
 * is open for as long as one with a client.
 */
export const defaultReadOnLimits: ReadOnLimits = {
  readOnMs: 60_000,
  readOnBytes: 64 * 1024 * 1024,
  readOnCalls: 256,
};

/** The request to a provider; disposed when its call is over, which closes what was not read of the answer. */
export interface ProviderRequest extends Disposable {
  /** Aborts when the answer is not read any further, though the provider may bill all of it. */
  readonly signal: AbortSignal;
  /** To be called with the length of each chunk of the answer. */
  readonly count: (bytes: number) => void;
}

/** `isSent` tells whether the provider has the whole request, and may bill it. */
export type OpenRequest = (
  exchange: Pick<Exchange, "signal" | "stopping">,
  isSent: () => boolean,
) => ProviderRequest;

/**
 * Reads answers to their end, within limits, when their clients hang up: the end has the usage, with thinking of which
 * nothing was streamed. A run that could close a call for less than it costs would have no cap.
 */
export function createReadOn({ readOnMs, readOnBytes, readOnCalls }: ReadOnLimits): OpenRequest {
  let reading = 0;
  return ({ signal: gone, stopping }, isSent) => {
    const cut = new AbortController();
    const abort = (): void => cut.abort(new Error("the answer is not read any further"));
    let isGone = false;
    let timer: NodeJS.Timeout | null = null;
    let bytesLeft = readOnBytes;
    const onGone = (): void => {
      if (!isSent() || reading >= readOnCalls) return abort();
      reading += 1;
      isGone = true;
    };
    if (gone.aborted) onGone();
    else gone.addEventListener("abort", onGone, { once: true });
    return {
      signal: AbortSignal.any([cut.signal, stopping]),
      count: (bytes) => {
        if (!isGone) return;
        // Silence is the provider's: what it was sent and gave is all that is known to be billed, not what was reserved.
        timer ??= setTimeout(abort, readOnMs);
        bytesLeft -= bytes;
        if (bytesLeft < 0) abort();
      },
      [Symbol.dispose]: () => {
        gone.removeEventListener("abort", onGone);
        if (timer !== null) clearTimeout(timer);
        if (isGone) reading -= 1;
        abort();
      },
    };
  };
}
