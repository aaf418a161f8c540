import { Subscription } from "rxjs";
import type { Clock } from "../clock.ts";
import type { Obedience } from "./obeying.ts";
import { addTo, removeFrom } from "./sets-by-key.ts";
import type { WaitGraph, WaitsFor } from "./wait-graph.ts";

/** A request that waits until calls are over. */
export interface CallWaiter {
  readonly key: string;
  readonly instanceId: string;
  /** The calls that are not over yet. */
  readonly left: Set<string>;
  /** Its timer and its place in the graph of waits. */
  readonly wait: Subscription;
}

export interface CallWait extends Pick<CallWaiter, "key" | "instanceId" | "left"> {
  /** Epoch ms; null for as long as it takes. */
  readonly until: number | null;
  readonly waitsFor: WaitsFor;
}

/** The requests that wait for calls. */
export interface CallWaiters {
  of(key: string): CallWaiter | undefined;
  ofRun(instanceId: string): readonly CallWaiter[];
  /** Instead of a wait that would never end: the path of the deadlock. */
  join(wait: CallWait): readonly string[] | null;
  leave(waiter: CallWaiter): void;
  /** The call is over. Answers with those who wait for nothing more. */
  over(callId: string): readonly CallWaiter[];
}

export interface CallWaitersDeps extends Pick<Obedience<never>, "owned"> {
  readonly clock: Clock;
  readonly graph: WaitGraph;
  /** It waited for as long as it wanted; it still waits. */
  readonly onTimeout: (waiter: CallWaiter) => void;
}

/** Nobody waits at first. */
export function createCallWaiters(deps: CallWaitersDeps): CallWaiters {
  const { clock, graph, owned, onTimeout } = deps;
  const byKey = new Map<string, CallWaiter>();
  const byRun = new Map<string, Set<CallWaiter>>();
  const byCall = new Map<string, Set<CallWaiter>>();

  return {
    of: (key) => byKey.get(key),
    ofRun: (instanceId) => [...(byRun.get(instanceId) ?? [])],
    join: ({ key, instanceId, left, until, waitsFor }) => {
      const path = graph.cycle(instanceId, waitsFor);
      if (path !== null) return path;
      const waiter = { key, instanceId, left, wait: owned(new Subscription()) };
      byKey.set(key, waiter);
      addTo(byRun, instanceId, waiter);
      for (const callId of left) addTo(byCall, callId, waiter);
      waiter.wait.add(graph.add(instanceId, waitsFor));
      if (until !== null) waiter.wait.add(clock.at(until).subscribe(() => onTimeout(waiter)));
      return null;
    },
    leave: (waiter) => {
      waiter.wait.unsubscribe();
      byKey.delete(waiter.key);
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
