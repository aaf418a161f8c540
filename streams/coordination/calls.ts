import { Subscription } from "rxjs";
import type { OperatorFunction } from "rxjs";
import type { Clock } from "../clock.ts";
import type { RunEvent, WorkItem } from "../vocabulary.ts";
import { obeying } from "./obeying.ts";
import { addTo, removeFrom } from "./sets-by-key.ts";
import type { WaitGraph, WaitTarget } from "./wait-graph.ts";

/** A call that is not over. */
export interface OpenCall {
  readonly callId: string;
  /** Of its latest attempt. */
  readonly itemId: string;
  /** Who is called. */
  readonly agent: string;
  readonly callerInstance: string;
  /** Whether it ends with its caller. */
  readonly cancelOnExit: boolean;
  /** Null while it waits in its queue. */
  readonly instanceId: string | null;
}

export type CallCommand =
  /** It is committed, and will be handed on. */
  | { readonly type: "made"; readonly call: OpenCall }
  /** A run waits until all of these are over; one that is not open is. `key` names the request and is unique. */
  | {
      readonly type: "wait";
      readonly key: string;
      readonly instanceId: string;
      readonly callIds: readonly string[];
      /** Epoch ms; null for as long as it takes. */
      readonly until: number | null;
    }
  | { readonly type: "cancel"; readonly key: string }
  | { readonly type: "event"; readonly event: RunEvent }
  /** Nobody saw it end. */
  | { readonly type: "caller-ended"; readonly instanceId: string };

export type CallEvent =
  | { readonly type: "waiting"; readonly key: string; readonly calls: readonly OpenCall[] }
  | { readonly type: "settled"; readonly key: string; readonly timedOut: boolean }
  /** The wait would close a cycle; `path` goes from who asked back to itself. */
  | { readonly type: "refused"; readonly key: string; readonly path: readonly string[] }
  /** Nobody wants it any more: its caller ended. Said again when it starts nevertheless. */
  | { readonly type: "abandoned"; readonly call: OpenCall };

export interface CallOptions {
  readonly clock: Clock;
  /** Shared with all else that runs wait for. */
  readonly graph: WaitGraph;
  /** Whether work whose run was lost is tried once more. */
  readonly mayRetry: (item: WorkItem) => boolean;
}

interface Waiter {
  readonly key: string;
  readonly instanceId: string;
  readonly left: Set<string>;
  readonly wait: Subscription;
}

/**
 * Calls from one run to another agent, and the runs that wait for them. A wait that would close a cycle of waits is
 * refused.
 *
 *     commands:  ─m──w──s──f──     m made, w wait, s the callee started, f it finished
 *     events:    ────w─────s──     w waiting, s settled
 *
 * On complete and on unsubscribe: forgets everything and says nothing more; the calls are in store.
 */
export function calls(options: CallOptions): OperatorFunction<CallCommand, CallEvent> {
  return obeying(({ say, owned }) => {
    const { clock, graph, mayRetry } = options;
    const open = new Map<string, OpenCall>();
    const madeBy = new Map<string, Set<string>>();
    const abandoned = new Set<string>();
    const waiters = new Map<string, Waiter>();
    const waitersOf = new Map<string, Set<Waiter>>();
    const live = new Map<string, Set<string>>();

    const made = (call: OpenCall): void => {
      open.set(call.callId, call);
      addTo(madeBy, call.callerInstance, call.callId);
    };
    const over = ({ callId, callerInstance }: OpenCall): void => {
      open.delete(callId);
      abandoned.delete(callId);
      removeFrom(madeBy, callerInstance, callId);
      for (const waiter of [...(waitersOf.get(callId) ?? [])]) {
        waiter.left.delete(callId);
        removeFrom(waitersOf, callId, waiter);
        if (waiter.left.size === 0) settle(waiter, false);
      }
    };

    /** While a call waits in its queue, those who run there stand in its way, until one of them ends. */
    const inTheWayOf = function* (callIds: Iterable<string>): Iterable<WaitTarget> {
      for (const callId of callIds) {
        const call = open.get(callId);
        if (call === undefined) continue;
        const there = call.instanceId ?? [...(live.get(call.agent) ?? [])];
        if (there.length > 0) yield there;
      }
    };
    const wait = (command: Extract<CallCommand, { type: "wait" }>): void => {
      const { key, instanceId, until } = command;
      const left = new Set(command.callIds.filter((callId) => open.has(callId)));
      if (left.size === 0) return say({ type: "settled", key, timedOut: false });
      const waitsFor = (): Iterable<WaitTarget> => inTheWayOf(left);
      const path = graph.cycle(instanceId, waitsFor);
      if (path !== null) return say({ type: "refused", key, path });
      const waiter: Waiter = { key, instanceId, left, wait: owned(new Subscription()) };
      waiters.set(key, waiter);
      for (const callId of left) addTo(waitersOf, callId, waiter);
      waiter.wait.add(graph.add(instanceId, waitsFor));
      if (until !== null) {
        waiter.wait.add(clock.at(until).subscribe(() => settle(waiter, true)));
      }
      const waited = [...left].flatMap((callId) => open.get(callId) ?? []);
      say({ type: "waiting", key, calls: waited });
    };
    const forget = (waiter: Waiter): void => {
      waiter.wait.unsubscribe();
      waiters.delete(waiter.key);
      for (const callId of waiter.left) removeFrom(waitersOf, callId, waiter);
    };
    const settle = (waiter: Waiter, timedOut: boolean): void => {
      forget(waiter);
      say({ type: "settled", key: waiter.key, timedOut });
    };

    const started = (item: WorkItem, instanceId: string): void => {
      addTo(live, item.agent, instanceId);
      const call = callOf(item);
      if (call === undefined) return;
      const running = { ...call, itemId: item.id, instanceId };
      open.set(call.callId, running);
      if (abandoned.has(call.callId)) say({ type: "abandoned", call: running });
    };
    const finished = (event: Extract<RunEvent, { type: "finished" }>): void => {
      const { item, instanceId, end } = event;
      removeFrom(live, item.agent, instanceId);
      const call = callOf(item);
      if (call !== undefined) {
        const again = end.outcome === "lost" && mayRetry(item) && !abandoned.has(call.callId);
        if (again) open.set(call.callId, { ...call, instanceId: null });
        else over(call);
      }
      abandonCallsOf(instanceId);
    };
    const abandonCallsOf = (instanceId: string): void => {
      for (const waiter of [...waiters.values()]) {
        if (waiter.instanceId === instanceId) forget(waiter);
      }
      const unwanted = [...(madeBy.get(instanceId) ?? [])]
        .flatMap((callId) => open.get(callId) ?? [])
        .filter(({ cancelOnExit }) => cancelOnExit);
      for (const { callId } of unwanted) abandoned.add(callId);
      // Those that wait first: the end of one that runs would start the next.
      const [running = [], queued = []] = [true, false].map((runs) =>
        unwanted.filter((call) => (call.instanceId !== null) === runs),
      );
      for (const call of [...queued, ...running]) say({ type: "abandoned", call });
    };
    const callOf = ({ trigger }: WorkItem): OpenCall | undefined =>
      trigger.kind === "agent-call" ? open.get(trigger.callId) : undefined;

    const see = (event: RunEvent): void => {
      if (event.type === "started") started(event.item, event.instanceId);
      if (event.type === "finished") finished(event);
      if (event.type !== "refused" && event.type !== "taken") return;
      const call = callOf(event.item);
      if (call !== undefined) over(call);
    };
    return (command: CallCommand): void => {
      switch (command.type) {
        case "made":
          return made(command.call);
        case "wait":
          return wait(command);
        case "cancel": {
          const waiter = waiters.get(command.key);
          if (waiter !== undefined) forget(waiter);
          return;
        }
        case "event":
          return see(command.event);
        case "caller-ended":
          return abandonCallsOf(command.instanceId);
      }
    };
  });
}
