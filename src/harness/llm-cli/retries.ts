import type { JobModel } from "../../contracts/job.ts";

/** How often a CLI retries one request when the model's config has no number. */
const defaultRetries = 3;

const firstDelayMs = 1000;
const longestDelayMs = 30_000;

/** How often one request to this model is retried. */
export function retriesOf({ maxRetries }: Pick<JobModel, "maxRetries">): number {
  return maxRetries ?? defaultRetries;
}

/** How long to wait before a retry, in ms: doubled each time, with jitter. `attempt` counts from 1, `random` is from 0 to 1. */
export function backoffMs(attempt: number, random: number): number {
  const longest = Math.min(firstDelayMs * 2 ** (attempt - 1), longestDelayMs);
  return Math.round(longest * (0.5 + random / 2));
}
