import { setTimeout as wait } from "node:timers/promises";
import { inboxWaitMs } from "../../foundation/contracts/remote-run.ts";
import type { InboxAnswer } from "../../foundation/contracts/remote-run.ts";
import type { RunStopReason } from "../../foundation/contracts/run-stop.ts";

/** What the scheduler has for a run that asks for it. */
export interface Inbox {
  readonly stop: (reason: RunStopReason, graceMs: number) => void;
  /** Resolves when there is something new, after `inboxWaitMs`, or when the asker left. */
  readonly next: (signal: AbortSignal) => Promise<InboxAnswer>;
}

/** An answer may be lost, so the same comes again, later. */
export function createInbox(): Inbox {
  const asked = new AbortController();
  let stop: InboxAnswer["stop"] = null;
  let isAnswered = false;
  return {
    stop: (reason, graceMs) => {
      stop ??= { reason, graceMs };
      asked.abort();
    },
    next: async (signal) => {
      const news = isAnswered ? [] : [asked.signal];
      await wait(inboxWaitMs, undefined, { signal: AbortSignal.any([signal, ...news]) }).catch(
        () => undefined,
      );
      isAnswered ||= stop !== null && !signal.aborted;
      return { stop };
    },
  };
}
