const defaultMaxRetries = 3;

/** How often one request to a model is retried; null is what its config has without `maxRetries`. */
export function retriesOf({ maxRetries }: { readonly maxRetries: number | null }): number {
  return maxRetries ?? defaultMaxRetries;
}

const firstDelayMs = 1000;
const longestDelayMs = 30_000;

/**
 * How long to wait before the next attempt, in ms: 1 s, 2 s, 4 s … up to 30 s, of which `random` (0 to 1) takes up to
 * half, so that runs that failed together don't ask together. `retries` counts those that were made.
 */
export function backoffMs(retries: number, random: number): number {
  const delay = Math.min(firstDelayMs * 2 ** retries, longestDelayMs);
  return Math.round(delay * (1 - random / 2));
}
