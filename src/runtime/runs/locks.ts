import { isoTime } from "../../../streams/iso-times.ts";
import type { HeldLock } from "../../foundation/contracts/run-state.ts";
import { drive } from "../../foundation/drive.ts";
import { createLocks, type LockCommand, type LockEvent } from "./rules/locks.ts";
import type { WaitGraph } from "./rules/wait-graph.ts";
import type { RunApiRequest } from "../wire/protocol.ts";
import type { lockRequests } from "../wire/requests/locks.ts";
import type { LiveRun, Performers } from "./live-run.ts";
import { createLockStatusReporter, type LockWait } from "./lock-view.ts";
import { requestId, type PendingRequest } from "./pending-requests.ts";
import type { RequestContext } from "./request-context.ts";
import { lockRefusal } from "./refusals.ts";

/** A request of a run, as named by the locks' state machine. */
interface LockRequest extends LockWait {
  readonly pending: PendingRequest<never>;
  /** The lock was acquired, extended or released; `stored` resolves once that is committed. */
  readonly done: (lock: HeldLock, stored: Promise<unknown>) => void;
}

/** Unlocks of a run whose answers are stored for repeated requests: many more than it can have open. */
const maxStoredUnlocks = 256;

/** Locks over their store, which has those of adopted runs: every response to a run is committed first. */
export function createLockRequests(context: RequestContext, graph: WaitGraph) {
  const { clock, store, project } = context;
  const held = store.locks.all();
  const status = createLockStatusReporter(held);

  const lastToken = store.locks.lastToken();
  const machine = createLocks<LockRequest>({ graph, held, lastToken });
  const { apply, stop } = drive(machine, clock, lockEvents(context, status));

  const ask = <T>(
    run: LiveRun,
    request: RunApiRequest<"lock" | "unlock" | "lock-heartbeat">,
    command: (request: LockRequest) => LockCommand<LockRequest>,
    answer: (lock: HeldLock) => T,
  ): Promise<T> =>
    run.pending.ask<T>(request, (pending) => {
      const { resource } = request.request;
      const done = (lock: HeldLock, stored: Promise<unknown>): void => {
        stored.then(
          () => pending.answer(answer(lock)),
          (error: unknown) => pending.refuse(error),
        );
      };
      const own: LockRequest = { run, resource, pending, done };
      apply(command(own));
      return () => {
        status.stopWaiting(own);
        apply({ type: "cancel", request: own });
        pending.abandon();
      };
    });
  const ttlOf = ({ ttlSeconds }: { readonly ttlSeconds?: number | undefined }): number =>
    (ttlSeconds ?? project().resourceLockTimeoutSeconds) * 1000;

  const performers: Performers<keyof typeof lockRequests> = {
    lock: (run, request) => {
      const { waitSeconds = 0, resource } = request.request;
      const { agent, instanceId } = run;
      const limits = { ttlMs: ttlOf(request.request), waitMs: waitSeconds * 1000 };
      return ask(
        run,
        request,
        (own) => ({ type: "acquire", request: own, resource, agent, instanceId, ...limits }),
        ({ fencingToken, expiresAt }) => ({
          ok: true,
          resource,
          fencingToken,
          expiresAt: isoTime(expiresAt),
        }),
      );
    },
    unlock: async (run, request) => {
      const { instanceId } = run;
      const { resource } = request.request;
      if (store.waits.answer(instanceId, requestId(request)) !== undefined) return { ok: true };
      return ask(
        run,
        request,
        (own) => ({ type: "release", request: own, resource, instanceId }),
        () => ({ ok: true }),
      );
    },
    "lock-heartbeat": (run, request) => {
      const { instanceId } = run;
      const { resource } = request.request;
      const ttlMs = ttlOf(request.request);
      return ask(
        run,
        request,
        (own) => ({ type: "heartbeat", request: own, resource, instanceId, ttlMs }),
        ({ expiresAt }) => ({ ok: true, expiresAt: isoTime(expiresAt) }),
      );
    },
  };
  return {
    performers,
    /** The run has ended. */
    end: (run: LiveRun) => {
      status.end(run);
      apply({ type: "ended", instanceId: run.instanceId });
    },
    /** The locks that runs hold or wait for, for the status; begins with the stored locks. */
    lockStatus$: status.event$,
    stop,
  };
}

/** Applies the events of the locks to the store, the status and the requests. */
function lockEvents(
  { clock, store, onProblem }: RequestContext,
  status: ReturnType<typeof createLockStatusReporter>,
) {
  const hold = (lock: HeldLock, request: LockRequest): void => {
    status.hold(lock, request);
    request.done(lock, store.locks.save(lock));
  };
  const free = (lock: HeldLock, request: LockRequest | null): void => {
    status.free(lock);
    const removed = store.locks.remove(lock);
    if (request !== null) {
      // The store commits both writes together.
      return request.done(lock, Promise.all([removed, rememberUnlock(request)]));
    }
    removed.catch((error: unknown) =>
      onProblem(`the end of the lock ${lock.resource} is not stored: ${String(error)}`),
    );
  };
  /** Stores the response, as a repeated request would find no lock to release. */
  const rememberUnlock = ({ run, pending: { id } }: LockRequest): Promise<void> => {
    const instead = run.unlocks.push(id) > maxStoredUnlocks ? run.unlocks.shift() : undefined;
    return store.waits.remember(run.instanceId, id, { ok: true }, instead);
  };
  return (event: LockEvent<LockRequest>): void => {
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
        // The waiting run releases its slot: the run that holds the lock may need it.
        const text = `waits for the lock ${event.request.resource}`;
        event.request.pending.suspend({ pausesClock: false, text });
        return status.wait(event.request, clock.now());
      }
    }
  };
}
