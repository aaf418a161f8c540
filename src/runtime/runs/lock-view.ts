import type { HeldLock } from "../../foundation/contracts/run-state.ts";
import type { LockStatus } from "../../../streams/status/wire.ts";
import type { Lock } from "../../foundation/contracts/operator-api.ts";
import { concat, Subject } from "rxjs";
import { isoTime } from "../../../streams/iso-times.ts";
import type { LockStatusEvent } from "../../../streams/status/reduce-status.ts";
import type { LiveRun, WaitedLock } from "./live-run.ts";

/** A lock as shown to operators and other runs. */
export function lockView({ resource, agent, instanceId, heldSince, expiresAt }: HeldLock): Lock {
  const times = { heldSince: isoTime(heldSince), expiresAt: isoTime(expiresAt) };
  return { resource, agent, instanceId, ...times };
}

/** The held locks among all that runs hold or wait for. */
export function heldLocks(claims: Iterable<LockStatus>): Lock[] {
  return [...claims].flatMap(({ resource, agent, instanceId, since, expiresAt }) =>
    expiresAt === null ? [] : { resource, agent, instanceId, heldSince: since, expiresAt },
  );
}

/** A request of a run for a lock. */
export interface LockWait extends WaitedLock {
  readonly run: LiveRun;
}

export function createLockStatusReporter(held: readonly HeldLock[]) {
  const event$ = new Subject<LockStatusEvent>();
  const stopWaiting = (wait: WaitedLock, run: LiveRun): void => {
    const { resource } = wait;
    if (!run.waitedLocks.delete(wait) || waitsFor(run, resource)) return;
    event$.next({ type: "lock-status-ended", claim: { resource, instanceId: run.instanceId } });
  };
  return {
    /** A request has been waiting since a moment, epoch ms. */
    wait: (wait: LockWait, since: number) => {
      const { resource, run } = wait;
      const isFirst = !waitsFor(run, resource);
      run.waitedLocks.add(wait);
      if (!isFirst) return;
      const { agent, instanceId } = run;
      const times = { since: isoTime(since), expiresAt: null };
      const claim = { resource, agent, instanceId, held: false, ...times };
      event$.next({ type: "lock-status", claim });
    },
    /** A request no longer waits, if it did. */
    stopWaiting: (wait: LockWait) => stopWaiting(wait, wait.run),
    /** The lock is held now, or for longer; `wait` requested it. */
    hold: (lock: HeldLock, wait: LockWait) => {
      wait.run.waitedLocks.delete(wait);
      event$.next(heldClaim(lock));
    },
    free: ({ resource, instanceId }: HeldLock) =>
      event$.next({ type: "lock-status-ended", claim: { resource, instanceId } }),
    /** The run has ended. */
    end: (run: LiveRun) => {
      for (const wait of [...run.waitedLocks]) stopWaiting(wait, run);
    },
    /** Begins with the locks held from before. */
    event$: concat(held.map(heldClaim), event$),
  };
}

function heldClaim(lock: HeldLock): LockStatusEvent {
  const { resource, agent, instanceId, heldSince, expiresAt } = lock;
  const times = { since: isoTime(heldSince), expiresAt: isoTime(expiresAt) };
  return { type: "lock-status", claim: { resource, agent, instanceId, held: true, ...times } };
}

/** A run may request the same lock several times at once. */
function waitsFor({ waitedLocks }: LiveRun, resource: string): boolean {
  return [...waitedLocks].some((wait) => wait.resource === resource);
}
