import type { MachineContext } from "../../../../streams/machine.ts";
import { addTo, removeFrom } from "./sets-by-key.ts";
import type { WaitGraph, WaitsFor } from "./wait-graph.ts";

export interface CallWait<R> {
  readonly request: R;
  readonly instanceId: string;
  /** The calls that are not over yet. */
  readonly left: Set<string>;
}

/** A request that waits until calls are over. */
export interface CallWaiter<R> extends CallWait<R> {
  /** Cancels its timer and its place in the graph of waits. */
  readonly release: () => void;
}

/** The requests that wait for calls. */
export interface CallWaiters<R> {
  of(request: R): CallWaiter<R> | undefined;
  ofRun(instanceId: string): readonly CallWaiter<R>[];
  /** Waits until a time, epoch ms; null for as long as it takes. Instead of a deadlock: its path. */
  join(wait: CallWait<R>, until: number | null, waitsFor: WaitsFor): readonly string[] | null;
  leave(waiter: CallWaiter<R>): void;
  /** The call is over. Returns the waiters that wait for nothing more. */
  over(callId: string): readonly CallWaiter<R>[];
}

export interface CallWaitersDeps<R> extends Pick<MachineContext<never>, "timers"> {
  readonly graph: WaitGraph;
  /** Its time is up; it still waits. */
  readonly onTimeout: (waiter: CallWaiter<R>) => void;
}

/** No waiters at first. */
export function createCallWaiters<R>(deps: CallWaitersDeps<R>): CallWaiters<R> {
  const { graph, timers, onTimeout } = deps;
  const byRequest = new Map<R, CallWaiter<R>>();
  const byRun = new Map<string, Set<CallWaiter<R>>>();
  const byCall = new Map<string, Set<CallWaiter<R>>>();

  return {
    of: (request) => byRequest.get(request),
    ofRun: (instanceId) => [...(byRun.get(instanceId) ?? [])],
    join: ({ request, instanceId, left }, until, waitsFor) => {
      const path = graph.cycle(instanceId, waitsFor);
      if (path !== null) return path;
      const leaveGraph = graph.add(instanceId, waitsFor);
      const cancelTimer = until === null ? null : timers.at(until, () => onTimeout(waiter));
      const release = (): void => {
        leaveGraph();
        cancelTimer?.();
      };
      const waiter: CallWaiter<R> = { request, instanceId, left, release };
      byRequest.set(request, waiter);
      addTo(byRun, instanceId, waiter);
      for (const callId of left) addTo(byCall, callId, waiter);
      return null;
    },
    leave: (waiter) => {
      waiter.release();
      byRequest.delete(waiter.request);
      removeFrom(byRun, waiter.instanceId, waiter);
      for (const callId of waiter.left) removeFrom(byCall, callId, waiter);
    },
    over: (callId) => {
      const waiters = [...(byCall.get(callId) ?? [])];
      byCall.delete(callId);
      for (const { left } of waiters) left.delete(callId);
      return waiters.filter(({ left }) => left.size === 0);
    },
  };
}
