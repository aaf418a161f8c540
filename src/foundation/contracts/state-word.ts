import type { Outcome, TriggerKind } from "../../../streams/vocabulary.ts";

/** Ends of work that no run was started for. */
export const refusedOutcomes = [
  "skipped",
  "missed",
  "dropped",
  "rejected",
] as const satisfies readonly Outcome[];

interface Ended {
  readonly kind: TriggerKind;
  readonly agent: string | null;
  readonly outcome: Outcome | null;
  readonly startedAt: string | null;
}

/** How an entry of the history stands or ended, in one word: `queued`, `running`, its outcome, `unmatched`. */
export function stateWord({ kind, agent, outcome, startedAt }: Ended): string {
  if (outcome === null) return startedAt === null ? "queued" : "running";
  // No agent refused it: it was for none.
  return outcome === "rejected" && kind === "webhook" && agent === null ? "unmatched" : outcome;
}
