import type { HeldLock } from "../../foundation/contracts/run-state.ts";
import type { Observable } from "rxjs";
import type { Clock } from "../../../streams/clock.ts";
import { drive } from "../../../streams/machine.ts";
import type { LockCommand, LockEvent } from "./rules/lock-events.ts";
import { createLocks } from "./rules/locks.ts";
import type { WaitGraph } from "./rules/wait-graph.ts";
import type { LockStatusEvent } from "../../../streams/status/reduce-status.ts";
import type { RunApiRequest } from "../../foundation/contracts/run-api.ts";
import type { lockRequests } from "../../foundation/contracts/run-requests/locks.ts";
import type { Store } from "../../foundation/store/store.ts";
import type { LiveRun } from "./live-run.ts";
import { createLockStatusReporter } from "./lock-status.ts";
import type { LockWait } from "./lock-status.ts";
import { iso } from "./lock-view.ts";
import { requestId } from "./pending-requests.ts";
import type { PendingRequest, PendingRequests } from "./pending-requests.ts";
import type { Performers } from "./live-run.ts";
import { lockRefusal } from "./refusals.ts";

export interface LockDeps {
  readonly clock: Clock;
  readonly graph: WaitGraph;
  readonly store: Pick<Store, "locks" | "waits">;
  /** `resourceLockTimeout`. */
  readonly defaultTtlMs: () => number;
  readonly onProblem: (message: string) => void;
}

export interface LockRequests {
  readonly performers: Performers<keyof typeof lockRequests>;
  /** The run is over. */
  end(run: LiveRun): void;
  /** What runs hold and wait for, for the status; begins with what is held already. */
  readonly lockStatus$: Observable<LockStatusEvent>;
  readonly stop: () => void;
}

/** A request of a run as the state machine of the locks names it. */
interface LockRequest extends LockWait {
  readonly pending: Pick<PendingRequest<never>, "id" | "suspend" | "refuse" | "abandon">;
  /** The lock is the run's, for longer, or freed; `stored` resolves once that is committed. */
  readonly done: (lock: HeldLock, stored: Promise<unknown>) => void;
}

/** How a request of one name is begun. */
interface Asked<T> {
  readonly run: LiveRun;
  readonly request: RunApiRequest<"lock" | "unlock" | "lock-heartbeat">;
  readonly command: (request: LockRequest) => LockCommand<LockRequest>;
  readonly answer: (lock: HeldLock) => T;
}

/** Unlocks of a run whose answers are stored for repeated requests: many more than it can have open. */
const maxStoredUnlocks = 256;

/** Locks over their store, which holds those of adopted runs: what a run is answered is committed. */
export function createLockRequests(deps: LockDeps): LockRequests {
  const { clock, graph, store } = deps;
  const held = store.locks.all();
  const status = createLockStatusReporter(held);

  const hold = (lock: HeldLock, request: LockRequest): void => {
    status.hold(lock, request);
    request.done(lock, store.locks.save(lock));
  };
  const free = (lock: HeldLock, request: LockRequest | null): void => {
    status.free(lock);
    const removed = store.locks.remove(lock);
    if (request !== null) {
      // With the same commit.
      return request.done(lock, Promise.all([removed, rememberUnlock(request)]));
    }
    removed.catch((error: unknown) =>
      deps.onProblem(`the end of the lock ${lock.resource} is not stored: ${String(error)}`),
    );
  };
  /** A run that repeats the request would find nothing to release. */
  const rememberUnlock = ({ run, pending: { id } }: LockRequest): Promise<void> => {
    const instead = run.unlocks.push(id) > maxStoredUnlocks ? run.unlocks.shift() : undefined;
    return store.waits.remember(run.instanceId, id, { ok: true }, instead);
  };
  const onEvent = (event: LockEvent<LockRequest>): void => {
    const { request } = event;
    switch (event.type) {
      case "granted":
      case "extended":
        return hold(event.lock, event.request);
      case "released":
        return free(event.lock, request);
      case "refused":
        status.stopWaiting(event.request);
        return event.request.pending.refuse(lockRefusal(event, event.request.resource));
      case "waiting": {
        // Others may have its slot: the run that is to free the lock may need it.
        const text = `waits for the lock ${event.request.resource}`;
        event.request.pending.suspend({ pausesClock: false, text });
        return status.wait(event.request, clock.now());
      }
    }
  };

  const lastToken = store.locks.lastToken();
  const machine = createLocks<LockRequest>({ graph, held, lastToken });
  const { apply, stop } = drive(machine, clock, onEvent);

  const ask = <T>(requests: PendingRequests<T>, asked: Asked<T>): Promise<T> => {
    const { run, request, command, answer } = asked;
    const begin = (pending: PendingRequest<T>): LockRequest => {
      const done = (lock: HeldLock, stored: Promise<unknown>): void => {
        stored.then(
          () => pending.answer(answer(lock)),
          (error: unknown) => pending.refuse(error),
        );
      };
      return { run, resource: request.request.resource, pending, done };
    };
    return requests.ask(request, (pending) => {
      const own = begin(pending);
      apply(command(own));
      return () => {
        status.stopWaiting(own);
        apply({ type: "cancel", request: own });
        pending.abandon();
      };
    });
  };
  const ttlMs = ({ ttlSeconds }: { readonly ttlSeconds?: number | undefined }): number =>
    ttlSeconds === undefined ? deps.defaultTtlMs() : ttlSeconds * 1000;

  return {
    performers: {
      lock: (run, request) => {
        const { waitSeconds = 0, ...body } = request.request;
        const { agent, instanceId } = run;
        const limits = { ttlMs: ttlMs(body), waitMs: waitSeconds * 1000 };
        return ask(run.pending.lock, {
          run,
          request,
          command: (own) => ({
            type: "acquire",
            request: own,
            resource: body.resource,
            agent,
            instanceId,
            ...limits,
          }),
          answer: ({ resource, fencingToken, expiresAt }) => ({
            ok: true,
            resource,
            fencingToken,
            expiresAt: iso(expiresAt),
          }),
        });
      },
      unlock: async (run, request) => {
        const { instanceId } = run;
        const { resource } = request.request;
        if (store.waits.answer(instanceId, requestId(request)) !== undefined) return { ok: true };
        return ask(run.pending.unlock, {
          run,
          request,
          command: (own) => ({ type: "release", request: own, resource, instanceId }),
          answer: () => ({ ok: true }),
        });
      },
      "lock-heartbeat": (run, request) => {
        const { instanceId } = run;
        const { resource } = request.request;
        const ttl = ttlMs(request.request);
        return ask(run.pending["lock-heartbeat"], {
          run,
          request,
          command: (own) => ({ type: "heartbeat", request: own, resource, instanceId, ttlMs: ttl }),
          answer: ({ expiresAt }) => ({ ok: true, expiresAt: iso(expiresAt) }),
        });
      },
    },
    end: (run) => {
      status.end(run);
      apply({ type: "ended", instanceId: run.instanceId });
    },
    lockStatus$: status.event$,
    stop,
  };
}
