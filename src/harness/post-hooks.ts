import type { Job } from "../contracts/job.ts";
import { lastHooksMs } from "../contracts/run-stop.ts";
import type { RunStopReason } from "../contracts/run-stop.ts";
import type { SessionEnd } from "./harness.ts";
import { runHooks } from "./hooks.ts";
import type { HookContext } from "./hooks.ts";
import { stopReason } from "./stop-reason.ts";

/** What post hooks read as `AL_OUTCOME`. */
type HookOutcome = "succeeded" | "failed" | RunStopReason;

/**
 * Runs the post hooks, whatever became of the session, and resolves to the reason of one that failed; null when all
 * succeeded. `stopping` aborts when the run is asked to end: from then on they have `lastHooksMs` together.
 */
export async function runPostHooks(
  job: Job,
  { error }: SessionEnd,
  stopping: AbortSignal,
  context: HookContext,
): Promise<string | null> {
  if (job.hooks.post.length === 0) return null;
  const ended = error === null ? "succeeded" : "failed";
  const outcome: HookOutcome = stopping.aborted ? await stopReason(job) : ended;
  const deadline = abortedAfter(stopping, lastHooksMs);
  try {
    return await runHooks("post", job, {
      ...context,
      env: { ...context.env, AL_OUTCOME: outcome },
      signal: AbortSignal.any([context.signal, deadline.signal]),
    });
  } finally {
    deadline.end();
  }
}

/** A signal that aborts `ms` after another one; `end` releases its timer. */
function abortedAfter(other: AbortSignal, ms: number): { signal: AbortSignal; end(): void } {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const begin = () => (timer = setTimeout(() => late.abort(), ms));
  if (other.aborted) begin();
  else other.addEventListener("abort", begin, { once: true });
  const end = () => {
    other.removeEventListener("abort", begin);
    clearTimeout(timer);
  };
  return { signal: late.signal, end };
}
