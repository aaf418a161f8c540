import type { IncomingMessage, ServerResponse } from "node:http";
import type { Address } from "./address.ts";
import type { SeenOfCall } from "./answer-tap.ts";
import type { GatewayLimits } from "./limits.ts";
import type { WireApi } from "./wire-api.ts";

/**
 * Reads answers to their end, within limits, after their clients hang up: the last event has the usage, including
 * thinking that was not streamed. Otherwise a run could evade its budget by hanging up.
 */
export function createReadOn({ readOnMs, readOnBytes, readOnCalls }: GatewayLimits) {
  let reading = 0;
  /**
   * Opens the request to a provider; disposed when its call is over, which closes an answer that was not fully read.
   * `isSent` returns whether the provider has the whole request, and may bill it.
   */
  return ({ signal: gone, stopping }: Exchange, isSent: () => boolean) => {
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
      /** Aborts when the answer is no longer read, though the provider may bill all of it. */
      signal: AbortSignal.any([cut.signal, stopping]),
      /** Must be called with the length of each chunk of the answer. */
      count: (bytes: number) => {
        if (!isGone) return;
        // The timer starts with the first chunk: while the provider is silent, only its idle timeout applies.
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

/** One request of a run, with its answer. */
export interface Exchange {
  readonly instanceId: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Null if it is malformed. */
  readonly address: Address | null;
  /** Aborts when the client hangs up or the scheduler stops. */
  readonly signal: AbortSignal;
  /** Aborts when the scheduler stops. */
  readonly stopping: AbortSignal;
  /** The API whose error format is used; guessed from the address until the model is known. */
  shape: WireApi;
  /** Progress of its answer. */
  readonly seen: SeenOfCall;
}

/** Aborts when the client is gone before its answer is complete. */
export function hangUpSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  const abort = () => gone.abort(new Error("the client hung up"));
  if (response.destroyed) abort();
  else response.once("close", () => !response.writableFinished && abort());
  return gone.signal;
}
