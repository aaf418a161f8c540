import { Subscription } from "rxjs";
import type { Clock } from "../clock.ts";
import type { AcquireCommand, HeldLock } from "./lock-events.ts";
import { otherAhead } from "./lock-queue.ts";
import type { LockQueue, QueuedWaiter } from "./lock-queue.ts";
import type { Obedience } from "./obeying.ts";
import { addTo, removeFrom } from "./sets-by-key.ts";
import type { WaitGraph } from "./wait-graph.ts";

/** A lock for which runs can wait. */
export interface ContendedLock {
  readonly lock: HeldLock;
  readonly queue: LockQueue<LockWaiter>;
}

/** A request that waits for a lock. */
export interface LockWaiter extends QueuedWaiter {
  readonly command: AcquireCommand;
  readonly contended: ContendedLock;
  /** Its timer and its place in the graph of waits. */
  readonly wait: Subscription;
}

/** The requests that wait for locks. */
export interface LockWaiters {
  of(key: string): LockWaiter | undefined;
  ofRun(instanceId: string): readonly LockWaiter[];
  /** Queues behind who waits there. Instead of a wait that would never end: the path of the deadlock. */
  join(command: AcquireCommand, contended: ContendedLock): readonly string[] | null;
  leave(waiter: LockWaiter): void;
}

export interface LockWaitersDeps extends Pick<Obedience<never>, "owned"> {
  readonly clock: Clock;
  readonly graph: WaitGraph;
  /** It waited for as long as it wanted; it still waits. */
  readonly onTimeout: (waiter: LockWaiter) => void;
}

/** Nobody waits at first. */
export function createLockWaiters({
  clock,
  graph,
  owned,
  onTimeout,
}: LockWaitersDeps): LockWaiters {
  const byKey = new Map<string, LockWaiter>();
  const byRun = new Map<string, Set<LockWaiter>>();

  const leave = (waiter: LockWaiter): void => {
    waiter.contended.queue.leave(waiter);
    waiter.wait.unsubscribe();
    byKey.delete(waiter.command.key);
    removeFrom(byRun, waiter.instanceId, waiter);
  };
  return {
    of: (key) => byKey.get(key),
    ofRun: (instanceId) => [...(byRun.get(instanceId) ?? [])],
    leave,
    join: (command, contended) => {
      const { key, instanceId, waitMs } = command;
      const wait = owned(new Subscription());
      const waiter: LockWaiter = {
        command,
        contended,
        instanceId,
        wait,
        ahead: null,
        behind: null,
      };
      contended.queue.join(waiter);
      byKey.set(key, waiter);
      addTo(byRun, instanceId, waiter);
      const waitsFor = (): readonly string[] => waitedFor(waiter);
      const path = graph.cycle(instanceId, waitsFor);
      if (path !== null) leave(waiter);
      else {
        wait.add(graph.add(instanceId, waitsFor));
        wait.add(clock.at(clock.now() + waitMs).subscribe(() => onTimeout(waiter)));
      }
      return path;
    },
  };
}

/** The holder, and who comes before it. */
function waitedFor(waiter: LockWaiter): readonly string[] {
  const ahead = otherAhead(waiter);
  const holder = waiter.contended.lock.instanceId;
  return ahead === null ? [holder] : [holder, ahead];
}
