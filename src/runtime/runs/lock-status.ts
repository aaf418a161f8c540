import type { HeldLock } from "../../foundation/contracts/run-state.ts";
import { concat, Subject } from "rxjs";
import type { Observable } from "rxjs";
import type { LockStatusEvent } from "../../../streams/status/reduce-status.ts";
import type { LiveRun, WaitedLock } from "./live-run.ts";
import { iso } from "./lock-view.ts";

/** A request of a run for a lock. */
export interface LockWait extends WaitedLock {
  readonly run: LiveRun;
}

/** What the status shows of the locks that runs hold and wait for. */
export interface LockStatusReporter {
  /** A request waits since a moment, epoch ms. */
  wait(wait: LockWait, since: number): void;
  /** A request no longer waits, if it did. */
  stopWaiting(wait: LockWait): void;
  /** The lock is held now, or for longer; `wait` asked for it. */
  hold(lock: HeldLock, wait: LockWait): void;
  free(lock: HeldLock): void;
  /** The run is over. */
  end(run: LiveRun): void;
  /** Begins with the locks that are held from before. */
  readonly event$: Observable<LockStatusEvent>;
}

export function createLockStatusReporter(held: readonly HeldLock[]): LockStatusReporter {
  const event$ = new Subject<LockStatusEvent>();
  const stopWaiting = (wait: WaitedLock, run: LiveRun): void => {
    const { resource } = wait;
    if (!run.waitedLocks.delete(wait) || waitsFor(run, resource)) return;
    event$.next({ type: "lock-status-ended", claim: { resource, instanceId: run.instanceId } });
  };
  return {
    wait: (wait, since) => {
      const { resource, run } = wait;
      const isFirst = !waitsFor(run, resource);
      run.waitedLocks.add(wait);
      if (!isFirst) return;
      const { agent, instanceId } = run;
      const times = { since: iso(since), expiresAt: null };
      const claim = { resource, agent, instanceId, held: false, ...times };
      event$.next({ type: "lock-status", claim });
    },
    stopWaiting: (wait) => stopWaiting(wait, wait.run),
    hold: (lock, wait) => {
      wait.run.waitedLocks.delete(wait);
      event$.next(heldClaim(lock));
    },
    free: ({ resource, instanceId }) =>
      event$.next({ type: "lock-status-ended", claim: { resource, instanceId } }),
    end: (run) => {
      for (const wait of [...run.waitedLocks]) stopWaiting(wait, run);
    },
    event$: concat(held.map(heldClaim), event$),
  };
}

function heldClaim(lock: HeldLock): LockStatusEvent {
  const { resource, agent, instanceId, heldSince, expiresAt } = lock;
  const times = { since: iso(heldSince), expiresAt: iso(expiresAt) };
  return { type: "lock-status", claim: { resource, agent, instanceId, held: true, ...times } };
}

/** A run may ask for the same lock more than once at a time. */
function waitsFor({ waitedLocks }: LiveRun, resource: string): boolean {
  return [...waitedLocks].some((wait) => wait.resource === resource);
}
