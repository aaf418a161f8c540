import { setTimeout as wait } from "node:timers/promises";
import {
  inboxAnswerSchema,
  inboxWaitMs,
  remotePaths,
} from "../../../foundation/contracts/remote-run.ts";
import type { InboxAnswer } from "../../../foundation/contracts/remote-run.ts";
import type { ClaimedRun } from "./claimed-run.ts";
import { openDoor } from "./door-connection.ts";
import type { DoorConnection } from "./door-connection.ts";
import { createPauses } from "./pauses.ts";

export type StopOrder = NonNullable<InboxAnswer["stop"]>;

/** What an answer may take beyond the time for which the scheduler holds it back, in ms. */
const lateMs = 10_000;
/** A scheduler that answers at once is asked again after so long, in ms. */
const paceMs = 1_000;

export interface InboxListeners {
  /** May be called more than once with the same order. */
  readonly onStop: (order: StopOrder) => void;
  /** A scheduler answers by another connection than before: it may be another one. */
  readonly onBack: () => void;
}

/**
 * Asks the scheduler what the run is to do, again and again, until it no longer knows the run (true), or the run's `signal`
 * aborts (false). Never rejects.
 */
export async function followInbox(run: ClaimedRun, listeners: InboxListeners): Promise<boolean> {
  const pauses = createPauses(run.leaseMs / 10);
  while (!run.signal.aborted) {
    try {
      using connection = await openDoor(run.address, run.signal);
      if (await readBy(connection, run, listeners)) return true;
      pauses.reset();
    } catch {
      // It is away or the connection broke.
    }
    await pauses.next(run.signal);
  }
  return false;
}

async function readBy(
  connection: DoorConnection,
  run: ClaimedRun,
  { onStop, onBack }: InboxListeners,
): Promise<boolean> {
  const { token, leaseMs, lease, signal } = run;
  let isFirst = true;
  while (!signal.aborted && connection.isOpen()) {
    const sentAt = performance.now();
    const { status, body } = await connection.request({
      method: "GET",
      path: remotePaths.inbox,
      bearer: token,
      timeoutMs: inboxWaitMs + Math.min(lateMs, leaseMs / 3),
      signal,
    });
    if (status === 401) return true;
    if (status !== 200) throw new Error(`the scheduler answered with status ${status}`);
    const { stop } = inboxAnswerSchema.parse(body);
    lease.renew(sentAt);
    if (isFirst) onBack();
    isFirst = false;
    if (stop !== null) onStop(stop);
    const pauseMs = paceMs - (performance.now() - sentAt);
    await wait(Math.max(0, pauseMs), undefined, { signal }).catch(() => undefined);
  }
  return false;
}
