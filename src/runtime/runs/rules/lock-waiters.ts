import type { HeldLock } from "../../../foundation/contracts/run-state.ts";
import type { AcquireCommand } from "./lock-events.ts";
import { otherAhead } from "./lock-queue.ts";
import type { LockQueue, QueuedWaiter } from "./lock-queue.ts";
import type { MachineContext } from "../../../../streams/machine.ts";
import { addTo, removeFrom } from "./sets-by-key.ts";
import type { WaitGraph } from "./wait-graph.ts";

/** A lock for which runs can wait. */
export interface ContendedLock<R> {
  readonly lock: HeldLock;
  readonly queue: LockQueue<LockWaiter<R>>;
}

/** A request that waits for a lock. */
export interface LockWaiter<R> extends QueuedWaiter {
  readonly command: AcquireCommand<R>;
  readonly contended: ContendedLock<R>;
  /** Cancels its timer and its place in the graph of waits. */
  release: () => void;
}

/** The requests that wait for locks. */
export interface LockWaiters<R> {
  of(request: R): LockWaiter<R> | undefined;
  ofRun(instanceId: string): readonly LockWaiter<R>[];
  /** Queues behind the others. Instead of a wait that would never end: the path of the deadlock. */
  join(command: AcquireCommand<R>, contended: ContendedLock<R>): readonly string[] | null;
  leave(waiter: LockWaiter<R>): void;
}

export interface LockWaitersDeps<R> extends Pick<MachineContext<never>, "timers" | "now"> {
  readonly graph: WaitGraph;
  /** Its time is up; it still waits. */
  readonly onTimeout: (waiter: LockWaiter<R>) => void;
}

/** No waiters at first. */
export function createLockWaiters<R>(deps: LockWaitersDeps<R>): LockWaiters<R> {
  const { graph, timers, now, onTimeout } = deps;
  const byRequest = new Map<R, LockWaiter<R>>();
  const byRun = new Map<string, Set<LockWaiter<R>>>();

  const leave = (waiter: LockWaiter<R>): void => {
    waiter.contended.queue.leave(waiter);
    waiter.release();
    byRequest.delete(waiter.command.request);
    removeFrom(byRun, waiter.instanceId, waiter);
  };
  /** Null once it has a timer and a place in the graph of waits. */
  const beginWait = (waiter: LockWaiter<R>): readonly string[] | null => {
    const { command, instanceId } = waiter;
    const waitsFor = (): readonly string[] => waitedFor(waiter);
    const path = graph.cycle(instanceId, waitsFor);
    if (path !== null) return path;
    const leaveGraph = graph.add(instanceId, waitsFor);
    const cancelTimer = timers.at(now() + command.waitMs, () => onTimeout(waiter));
    waiter.release = () => {
      leaveGraph();
      cancelTimer();
    };
    return null;
  };
  return {
    of: (request) => byRequest.get(request),
    ofRun: (instanceId) => [...(byRun.get(instanceId) ?? [])],
    leave,
    join: (command, contended) => {
      const { request, instanceId } = command;
      const waiter: LockWaiter<R> = {
        command,
        contended,
        instanceId,
        release: () => undefined,
        ahead: null,
        behind: null,
      };
      contended.queue.join(waiter);
      byRequest.set(request, waiter);
      addTo(byRun, instanceId, waiter);
      const path = beginWait(waiter);
      if (path !== null) leave(waiter);
      return path;
    },
  };
}

/** The holder, and the run that comes before it. */
function waitedFor<R>(waiter: LockWaiter<R>): readonly string[] {
  const ahead = otherAhead(waiter);
  const holder = waiter.contended.lock.instanceId;
  return ahead === null ? [holder] : [holder, ahead];
}
