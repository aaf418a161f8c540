import type { Verdict } from "./pi/judge-answer.ts";

const defaultMaxRetries = 3;

/** How often one request to a model is retried; the default if `maxRetries` is null. */
export function retriesOf({ maxRetries }: { readonly maxRetries: number | null }): number {
  return maxRetries ?? defaultMaxRetries;
}

const firstDelayMs = 1000;
const longestDelayMs = 30_000;

/**
 * How long to wait before the next attempt, in ms: 1 s, 2 s, 4 s … up to 30 s, minus up to half by `random` (0 to 1),
 * so that runs that failed together don't retry together. `retries` counts earlier retries.
 */
export function backoffMs(retries: number, random: number): number {
  const delay = Math.min(firstDelayMs * 2 ** retries, longestDelayMs);
  return Math.round(delay * (1 - random / 2));
}

/** Total waiting time for a model that has a fallback, in ms. */
const maxWaitWithFallbackMs = 10_000;

/** Progress of one request's retries, and the remaining options. */
interface RetryState {
  /** Retries that were made. */
  readonly retries: number;
  readonly maxRetries: number;
  /** All waits so far, in ms. */
  readonly waitedMs: number;
  readonly hasFallback: boolean;
  /** Remaining time of the run, in ms. */
  readonly remainingMs: number;
}

/**
 * How long to wait before the same model is asked again, in ms; null to stop retrying it: the fallback is used if one
 * exists. The fallback is used at once if the model was silent or the waits exceed 10 s; without a fallback, a wait may
 * take up to half of the run's remaining time. `random` is from 0 to 1.
 */
export function retryDelayMs(verdict: Verdict, state: RetryState, random: number): number | null {
  if (verdict.kind !== "retry" || state.retries >= state.maxRetries) return null;
  if (verdict.isSlow === true && state.hasFallback) return null;
  const delay = Math.max(verdict.retryAfterMs ?? 0, backoffMs(state.retries, random));
  const longest = state.hasFallback
    ? maxWaitWithFallbackMs - state.waitedMs
    : state.remainingMs / 2;
  return delay <= longest ? delay : null;
}

/** In ms, for models without a `timeout`. */
const longestSilenceMs = 300_000;
const shortestSilenceMs = 1000;

/**
 * How long a model may send nothing, before its first byte and between two, in ms. By default its share of the run's
 * time, so that each remaining model and one more attempt still fit, and never more than five minutes.
 */
export function silenceLimitMs(
  timeoutSeconds: number | null,
  { remainingMs, modelsLeft }: { remainingMs: number; modelsLeft: number },
): number {
  if (timeoutSeconds !== null) return timeoutSeconds * 1000;
  const share = remainingMs / (modelsLeft + 1);
  return Math.min(Math.max(share, shortestSilenceMs), longestSilenceMs);
}

type Why = Extract<Verdict, { kind: "continue" }>["why"];

/** How often in a row a model is asked to continue, and with which text. */
export const continuations: Readonly<
  Record<Why, { readonly limit: number; readonly prompt: string }>
> = {
  cut: {
    limit: 3,
    prompt:
      "Your last answer was cut at the output limit. Continue exactly where it stopped, without repeating any of it. Split long tool calls into shorter ones.",
  },
  empty: {
    limit: 1,
    prompt:
      "Your last answer was empty. If there is work left, go on with it; if all is done, say so in one sentence.",
  },
  paused: { limit: 10, prompt: "Continue." },
};

/** How often the latest answers, one after the other, asked for the same continuation. */
interface Streak {
  readonly why: Why | null;
  readonly count: number;
}

export const noStreak: Streak = { why: null, count: 0 };

export function nextStreak(streak: Streak, verdict: Verdict): Streak {
  if (verdict.kind !== "continue") return noStreak;
  const count = streak.why === verdict.why ? streak.count + 1 : 1;
  return { why: verdict.why, count };
}

/** Replaces a verdict beyond the limit of continuations by a fallback: a model that is always cut never finishes. */
export function withinLimit(verdict: Verdict, { count }: Streak): Verdict {
  if (verdict.kind !== "continue" || count <= continuations[verdict.why].limit) return verdict;
  const message = `${verdict.message} ${count} times in a row`;
  return { kind: "fallback", message };
}
