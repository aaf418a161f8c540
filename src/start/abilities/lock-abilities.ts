import { defer, ignoreElements, Subject, tap } from "rxjs";
import type { Observable } from "rxjs";
import type { Clock } from "../../../streams/clock.ts";
import type {
  HeldLock,
  LockCommand,
  LockEvent,
} from "../../../streams/coordination/lock-events.ts";
import { locks } from "../../../streams/coordination/locks.ts";
import type { WaitGraph } from "../../../streams/coordination/wait-graph.ts";
import type { AbilityAnswer, RunRequestOf } from "../../contracts/run-channel.ts";
import type { Lock } from "../../contracts/operator-api.ts";
import type { Store } from "../../store/store.ts";
import type { LockClaimEvent } from "../../../streams/status/reduce-status.ts";
import { createLockClaims } from "./lock-claims.ts";
import { iso, lockView } from "./lock-view.ts";
import type { OpenRequests } from "./open-requests.ts";
import { requestId } from "./open-requests.ts";
import { lockRefusal } from "./refusal.ts";

export interface LockDeps {
  readonly clock: Clock;
  readonly graph: WaitGraph;
  readonly store: Pick<Store, "locks" | "waits">;
  readonly requests: OpenRequests;
  /** The agent of a run that lives; throws when it does not. */
  readonly agentOf: (instanceId: string) => string;
  /** `resourceLockTimeout`. */
  readonly defaultTtlMs: () => number;
  readonly onProblem: (message: string) => void;
}

export interface LockAbilities {
  lock(request: RunRequestOf<"lock">): Promise<AbilityAnswer<"lock">>;
  unlock(request: RunRequestOf<"unlock">): Promise<AbilityAnswer<"unlock">>;
  heartbeat(request: RunRequestOf<"lock-heartbeat">): Promise<AbilityAnswer<"lock-heartbeat">>;
  /** The run is over. */
  end(instanceId: string): void;
  all(): readonly Lock[];
  /** What runs hold and wait for, for the status; also what is held when the work begins. */
  readonly claim$: Observable<LockClaimEvent>;
  /** Does the work while it is subscribed. */
  readonly work$: Observable<never>;
}

/** Locks over their store: what a run is told is committed. */
export function createLockAbilities(deps: LockDeps): LockAbilities {
  const { clock, graph, store, requests } = deps;
  const command$ = new Subject<LockCommand>();
  const held = new Map<string, HeldLock>();
  const claims = createLockClaims();
  const asked = new Map<string, { readonly resource: string; readonly instanceId: string }>();

  const answer = (id: string, saved: Promise<unknown>, told: unknown): void => {
    asked.delete(id);
    saved.then(
      () => requests.answer(id, told),
      (error: unknown) => requests.refuse(id, error),
    );
  };
  const has = (lock: HeldLock, request: string): Promise<void> => {
    held.set(lock.resource, lock);
    claims.hold(lock, request);
    return store.locks.save(lock);
  };
  const released = ({ key, lock }: Extract<LockEvent, { type: "released" }>): void => {
    held.delete(lock.resource);
    claims.free(lock);
    const removed = store.locks.remove(lock);
    if (key !== null) {
      // With the same commit, as a request that is repeated would find nothing to release.
      const remembered = store.waits.remember(lock.instanceId, key, { ok: true });
      return answer(key, Promise.all([removed, remembered]), { ok: true });
    }
    removed.catch((error: unknown) =>
      deps.onProblem(`the end of the lock ${lock.resource} is not stored: ${String(error)}`),
    );
  };
  const see = (event: LockEvent): void => {
    switch (event.type) {
      case "granted": {
        const { resource, fencingToken, expiresAt } = event.lock;
        const told = { ok: true, resource, fencingToken, expiresAt: iso(expiresAt) };
        return answer(event.key, has(event.lock, event.key), told);
      }
      case "extended": {
        const told = { ok: true, expiresAt: iso(event.lock.expiresAt) };
        return answer(event.key, has(event.lock, event.key), told);
      }
      case "released":
        return released(event);
      case "refused": {
        const { resource = "" } = asked.get(event.key) ?? {};
        asked.delete(event.key);
        claims.stopWaiting(event.key);
        return requests.refuse(event.key, lockRefusal(event, resource));
      }
      case "waiting": {
        const claim = asked.get(event.key);
        if (claim === undefined) return;
        const agent = deps.agentOf(claim.instanceId);
        return claims.wait(event.key, { ...claim, agent }, clock.now());
      }
    }
  };

  const ask = (
    request: RunRequestOf<"lock" | "unlock" | "lock-heartbeat">,
    command: (key: string) => LockCommand,
  ): Promise<unknown> => {
    const begin = (id: string): void => {
      const { resource } = request.request;
      asked.set(id, { resource, instanceId: request.instanceId });
      command$.next(command(id));
    };
    return requests.ask(request, begin, (id) => {
      asked.delete(id);
      claims.stopWaiting(id);
      command$.next({ type: "cancel", key: id });
    });
  };
  const ttlMs = ({ ttlSeconds }: { readonly ttlSeconds?: number | undefined }): number =>
    ttlSeconds === undefined ? deps.defaultTtlMs() : ttlSeconds * 1000;

  return {
    lock: (request) => {
      const { instanceId } = request;
      const { resource, waitSeconds = 0 } = request.request;
      const owner = { resource, instanceId, agent: deps.agentOf(instanceId) };
      const limits = { ttlMs: ttlMs(request.request), waitMs: waitSeconds * 1000 };
      const asked = ask(request, (key) => ({ type: "acquire", key, ...owner, ...limits }));
      return asked as Promise<AbilityAnswer<"lock">>;
    },
    unlock: async (request) => {
      const { instanceId } = request;
      const { resource } = request.request;
      const before = store.waits.answer(instanceId, requestId(request));
      if (before !== undefined) return before as AbilityAnswer<"unlock">;
      const asked = ask(request, (key) => ({ type: "release", key, resource, instanceId }));
      return (await asked) as AbilityAnswer<"unlock">;
    },
    heartbeat: (request) => {
      const { instanceId } = request;
      const asked = { resource: request.request.resource, ttlMs: ttlMs(request.request) };
      return ask(request, (key) => ({ type: "heartbeat", key, instanceId, ...asked })) as Promise<
        AbilityAnswer<"lock-heartbeat">
      >;
    },
    end: (instanceId) => {
      claims.end(instanceId);
      command$.next({ type: "ended", instanceId });
    },
    claim$: claims.event$,
    all: () => [...held.values()].map(lockView),
    work$: defer(() => {
      const before = store.locks.all();
      for (const lock of before) {
        held.set(lock.resource, lock);
        claims.hold(lock, null);
      }
      const options = { clock, graph, held: before, lastToken: store.locks.lastToken() };
      return command$.pipe(locks(options), tap(see), ignoreElements());
    }),
  };
}
