import { Subject } from "rxjs";
import type { Observable } from "rxjs";
import type { HeldLock } from "../../../streams/coordination/lock-events.ts";
import { addTo, removeFrom } from "../../../streams/coordination/sets-by-key.ts";
import { claimKey } from "../../../streams/status/reduce-status.ts";
import type { LockClaimEvent } from "../../../streams/status/reduce-status.ts";
import type { LockClaimId } from "../../../streams/status/wire.ts";
import { iso } from "./lock-view.ts";

/** Tells the status what runs hold and wait for. */
export interface LockClaims {
  /** A request waits since a moment, epoch ms. */
  wait(request: string, claim: LockClaimId & { readonly agent: string }, since: number): void;
  /** A request no longer waits, if it did. */
  stopWaiting(request: string): void;
  /** What the request asked for, if it was one, is held now, or for longer. */
  hold(lock: HeldLock, request: string | null): void;
  free(lock: HeldLock): void;
  /** The run is over. */
  end(instanceId: string): void;
  readonly event$: Observable<LockClaimEvent>;
}

export function createLockClaims(): LockClaims {
  const event$ = new Subject<LockClaimEvent>();
  const waiting = new Map<string, LockClaimId>();
  const requestsOf = new Map<string, Set<string>>();
  const ofInstance = new Map<string, Set<string>>();

  const forget = (request: string): LockClaimId | undefined => {
    const claim = waiting.get(request);
    if (claim === undefined) return undefined;
    waiting.delete(request);
    removeFrom(requestsOf, claimKey(claim), request);
    removeFrom(ofInstance, claim.instanceId, request);
    return claim;
  };
  const ended = ({ resource, instanceId }: LockClaimId): void =>
    event$.next({ type: "lock-claim-ended", claim: { resource, instanceId } });
  const stopWaiting = (request: string): void => {
    const claim = forget(request);
    // A run may ask for the same thing more than once at a time.
    if (claim !== undefined && !requestsOf.has(claimKey(claim))) ended(claim);
  };
  return {
    wait: (request, { resource, instanceId, agent }, since) => {
      const isFirst = !requestsOf.has(claimKey({ resource, instanceId }));
      waiting.set(request, { resource, instanceId });
      addTo(requestsOf, claimKey({ resource, instanceId }), request);
      addTo(ofInstance, instanceId, request);
      if (!isFirst) return;
      const times = { since: iso(since), expiresAt: null };
      const claim = { resource, agent, instanceId, held: false, ...times };
      event$.next({ type: "lock-claim", claim });
    },
    stopWaiting,
    hold: ({ resource, agent, instanceId, heldSince, expiresAt }, request) => {
      if (request !== null) forget(request);
      const times = { since: iso(heldSince), expiresAt: iso(expiresAt) };
      const claim = { resource, agent, instanceId, held: true, ...times };
      event$.next({ type: "lock-claim", claim });
    },
    free: ended,
    end: (instanceId) => {
      for (const request of [...(ofInstance.get(instanceId) ?? [])]) stopWaiting(request);
    },
    event$,
  };
}
