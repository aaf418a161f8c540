import type { Outcome } from "../../../streams/vocabulary.ts";

/**
 * The exit code that stands for a run: 0, what the process gave, 124 timed out, 137 killed or out of memory, 143
 * interrupted, 1.
 */
export function exitCodeOf(outcome: Outcome, exitCode: number | null): number {
  if (outcome === "succeeded") return 0;
  if (outcome === "failed") return exitCode === null || exitCode === 0 ? 1 : exitCode;
  if (outcome === "timed_out") return 124;
  if (outcome === "interrupted") return 143;
  return outcome === "killed" || outcome === "out_of_memory" ? 137 : 1;
}
