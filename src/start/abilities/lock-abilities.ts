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
import type { RequestAnswer, RunApiRequest } from "../../contracts/run-api.ts";
import type { Store } from "../../store/store.ts";
import type { LockClaimEvent } from "../../../streams/status/reduce-status.ts";
import { createKeptUnlocks } from "./kept-unlocks.ts";
import { createLockClaims } from "./lock-claims.ts";
import { iso } from "./lock-view.ts";
import type { OpenRequests } from "./open-requests.ts";
import { requestId } from "./open-requests.ts";
import { lockRefusal } from "./refusal.ts";
import { createRestingRequests } from "./resting-requests.ts";
import type { Rests } from "./rests.ts";

export interface LockDeps {
  readonly clock: Clock;
  readonly graph: WaitGraph;
  readonly store: Pick<Store, "locks" | "waits">;
  readonly requests: OpenRequests;
  readonly rests: Rests;
  /** The agent of a run that lives; throws when it does not. */
  readonly agentOf: (instanceId: string) => string;
  /** `resourceLockTimeout`. */
  readonly defaultTtlMs: () => number;
  readonly onProblem: (message: string) => void;
}

export interface LockAbilities {
  lock(request: RunApiRequest<"lock">): Promise<RequestAnswer<"lock">>;
  unlock(request: RunApiRequest<"unlock">): Promise<RequestAnswer<"unlock">>;
  heartbeat(request: RunApiRequest<"lock-heartbeat">): Promise<RequestAnswer<"lock-heartbeat">>;
  /** The run is over. */
  end(instanceId: string): void;
  /** What runs hold and wait for, for the status; also what is held when the work begins. */
  readonly claim$: Observable<LockClaimEvent>;
  /** Does the work while it is subscribed. */
  readonly work$: Observable<never>;
}

interface Asked {
  readonly resource: string;
  readonly instanceId: string;
}

/** Locks over their store: what a run is told is committed. */
export function createLockAbilities(deps: LockDeps): LockAbilities {
  const { clock, graph, store, requests, rests } = deps;
  const command$ = new Subject<LockCommand>();
  const claims = createLockClaims();
  const asked = new Map<string, Asked>();
  const unlocks = createKeptUnlocks(store.waits);
  const resting = createRestingRequests(requests, rests);

  const answer = (id: string, saved: Promise<unknown>, told: unknown): void => {
    asked.delete(id);
    saved.then(
      () => resting.answer(id, told),
      (error: unknown) => resting.refuse(id, error),
    );
  };
  const has = (lock: HeldLock, request: string): Promise<void> => {
    claims.hold(lock, request);
    return store.locks.save(lock);
  };
  const released = ({ key, lock }: Extract<LockEvent, { type: "released" }>): void => {
    claims.free(lock);
    const removed = store.locks.remove(lock);
    if (key !== null) {
      const told = { ok: true };
      // With the same commit.
      const kept = unlocks.keep(lock.instanceId, key, told);
      return answer(key, Promise.all([removed, kept]), told);
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
        return resting.refuse(event.key, lockRefusal(event, resource));
      }
      case "waiting":
        return waits(event.key);
    }
  };
  /** Others may have its place: who is to free the lock may need it. */
  const waits = (id: string): void => {
    const request = asked.get(id);
    if (request === undefined) return;
    const { resource, instanceId } = request;
    resting.rest(id, instanceId, `waits for the lock ${resource}`);
    const claim = { resource, instanceId, agent: deps.agentOf(instanceId) };
    claims.wait(id, claim, clock.now());
  };

  const ask = (
    request: RunApiRequest<"lock" | "unlock" | "lock-heartbeat">,
    command: (key: string) => LockCommand,
  ): Promise<unknown> => {
    const begin = (id: string): void => {
      const { resource } = request.request;
      asked.set(id, { resource, instanceId: request.instanceId });
      command$.next(command(id));
    };
    return requests.ask(request, begin, (id) => {
      claims.stopWaiting(id);
      command$.next({ type: "cancel", key: id });
      asked.delete(id);
      resting.leave(id);
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
      return asked as Promise<RequestAnswer<"lock">>;
    },
    unlock: async (request) => {
      const { instanceId } = request;
      const { resource } = request.request;
      const before = unlocks.answer(instanceId, requestId(request));
      if (before !== undefined) return before as RequestAnswer<"unlock">;
      const asked = ask(request, (key) => ({ type: "release", key, resource, instanceId }));
      return (await asked) as RequestAnswer<"unlock">;
    },
    heartbeat: (request) => {
      const { instanceId } = request;
      const asked = { resource: request.request.resource, ttlMs: ttlMs(request.request) };
      return ask(request, (key) => ({ type: "heartbeat", key, instanceId, ...asked })) as Promise<
        RequestAnswer<"lock-heartbeat">
      >;
    },
    end: (instanceId) => {
      claims.end(instanceId);
      resting.end(instanceId);
      unlocks.end(instanceId);
      for (const [id, one] of asked) if (one.instanceId === instanceId) asked.delete(id);
      command$.next({ type: "ended", instanceId });
    },
    claim$: claims.event$,
    work$: defer(() => {
      const before = store.locks.all();
      for (const lock of before) claims.hold(lock, null);
      const options = { clock, graph, held: before, lastToken: store.locks.lastToken() };
      return command$.pipe(locks(options), tap(see), ignoreElements());
    }),
  };
}
