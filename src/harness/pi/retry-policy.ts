import { backoffMs } from "../retries.ts";
import type { Verdict } from "./classify-answer.ts";

/** In ms: all waits for a model that has a fallback, added up. */
const maxWaitWithFallbackMs = 10_000;

/** What was done about one request so far, and what is left to do. */
export interface RetryState {
  /** Retries that were made. */
  readonly retries: number;
  readonly maxRetries: number;
  /** All waits so far, in ms. */
  readonly waitedMs: number;
  readonly hasFallback: boolean;
  /** What is left of the run's time, in ms. */
  readonly remainingMs: number;
}

/**
 * How long to wait before the same model is asked again, in ms; null to give it up: for the fallback where there is
 * one, else for good. A fallback is taken at once when the model was silent or asks for a longer wait than 10 s; alone,
 * a model is waited for as long as that leaves half of the run's time. `random` is from 0 to 1.
 */
export function retryDelayMs(verdict: Verdict, state: RetryState, random: number): number | null {
  if (verdict.kind !== "retry" || state.retries >= state.maxRetries) return null;
  if (verdict.isSlow && state.hasFallback) return null;
  const delay = Math.max(verdict.retryAfterMs ?? 0, backoffMs(state.retries, random));
  const longest = state.hasFallback
    ? maxWaitWithFallbackMs - state.waitedMs
    : state.remainingMs / 2;
  return delay <= longest ? delay : null;
}
