/** In ms, for models without a `timeout`. */
const longestSilenceMs = 300_000;
const shortestSilenceMs = 1000;

/**
 * How long a model may send nothing, before its first byte and between two, in ms. By default its share of the run's
 * time, so that each model that is left and one more attempt still fit, and never more than five minutes.
 */
export function silenceLimitMs(
  timeoutSeconds: number | null,
  { remainingMs, modelsLeft }: { remainingMs: number; modelsLeft: number },
): number {
  if (timeoutSeconds !== null) return timeoutSeconds * 1000;
  const share = remainingMs / (modelsLeft + 1);
  return Math.min(Math.max(share, shortestSilenceMs), longestSilenceMs);
}
