import {
  inboxAnswerSchema,
  inboxWaitMs,
  remotePaths,
  type InboxAnswer,
} from "../../wire/remote-protocol.ts";
import { askScheduler, byConnections, pace, type ClaimedRun } from "./claimed-run.ts";

export type StopOrder = NonNullable<InboxAnswer["stop"]>;

/** How long an answer may take beyond the time for which the scheduler holds it, in ms. */
const lateMs = 10_000;
/** Minimum time between two polls, in ms, for a scheduler that answers at once. */
const paceMs = 1_000;

export interface InboxListeners {
  /** May be called more than once with the same order. */
  readonly onStop: (order: StopOrder) => void;
  /** A scheduler answers over another connection than before: it may be another one. */
  readonly onBack: () => void;
}

/** Polls the scheduler for orders, as `byConnections` does its work. */
export function followInbox(run: ClaimedRun, { onStop, onBack }: InboxListeners): Promise<boolean> {
  const timeoutMs = inboxWaitMs + Math.min(lateMs, run.leaseMs / 3);
  const request = { method: "GET", path: remotePaths.inbox, timeoutMs } as const;
  return byConnections(run, async (connection) => {
    let isFirst = true;
    while (!run.signal.aborted && connection.isOpen()) {
      const sentAt = performance.now();
      const answer = await askScheduler(connection, run, request, inboxAnswerSchema);
      if (answer === null) return true;
      if (isFirst) onBack();
      isFirst = false;
      if (answer.stop !== null) onStop(answer.stop);
      await pace(sentAt, paceMs, run);
    }
    return false;
  });
}
