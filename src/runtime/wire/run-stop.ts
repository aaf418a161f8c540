/**
 * Why the scheduler ends a run, in a file beside the run's socket, written before TERM: a signal has no reason, and an
 * adopted run has no other way that works without a scheduler.
 */
export const stopReasonFile = "stop-reason";

/** How long the post hooks of a run that was asked to end may take together, in ms. */
export const lastHooksMs = 8_000;

/** How long a run needs to end by itself, in addition to its post hooks, in ms. */
const endingMs = 1_000;

/** Time between TERM and KILL, in ms: `graceMs`, or with post hooks at least their maximum duration. */
export function graceFor(
  { hooks }: { readonly hooks: { readonly post: readonly string[] } },
  graceMs: number,
): number {
  return hooks.post.length === 0 ? graceMs : Math.max(graceMs, lastHooksMs + endingMs);
}
