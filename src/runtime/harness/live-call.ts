import { liveOutput } from "./live-output.ts";
import type { LiveOutput, OutputPiece } from "./live-output.ts";

/** What is logged of a call while it runs. */
export interface CallProgress extends OutputPiece {
  /** How long it has run. */
  readonly durationMs: number;
}

export interface LiveCall {
  /** A chunk of what the call's command prints. */
  readonly add: LiveOutput["add"];
  readonly startedAt: number;
  readonly end: () => void;
}

/** A call that is over by then has its result alone. */
const firstMs = 1_000;
const shortestMs = 500;
/** The longer a call runs, the rarer its pieces: an hour has no more than 300, whatever it prints. */
const share = 1 / 50;
/** A silent call is logged after this time, and after each doubling of it. */
const silentMs = 10_000;

/** Passes on what a call prints while it runs, twice a second at most, and now and then that it still runs. */
export function liveCall(log: (progress: CallProgress) => void): LiveCall {
  const startedAt = Date.now();
  const output = liveOutput();
  let silentUntil = silentMs;
  let timer: NodeJS.Timeout;

  const look = (): void => {
    const durationMs = Date.now() - startedAt;
    const piece = output.take();
    const isSilent = piece.output.trim() === "" && piece.leftOut === 0;
    if (!isSilent || durationMs >= silentUntil) {
      silentUntil = Math.max(silentMs, 2 * durationMs);
      log({ ...piece, durationMs });
    }
    // The process of a run that is over does not wait for it.
    timer = setTimeout(look, Math.max(shortestMs, durationMs * share)).unref();
  };
  timer = setTimeout(look, firstMs).unref();
  return { startedAt, add: output.add, end: () => clearTimeout(timer) };
}
