import type { OperatorFunction } from "rxjs";
import type { Clock } from "../clock.ts";
import { isRetried } from "../vocabulary.ts";
import type { RunEvent, WorkItem } from "../vocabulary.ts";
import { createCallWaiters } from "./call-waiters.ts";
import type { CallWaiter } from "./call-waiters.ts";
import { obeying } from "./obeying.ts";
import { createOpenCalls } from "./open-calls.ts";
import type { OpenCall } from "./open-calls.ts";
import { addTo, removeFrom } from "./sets-by-key.ts";
import type { WaitGraph, WaitTarget } from "./wait-graph.ts";

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
    const open = createOpenCalls();
    const onTimeout = (waiter: CallWaiter): void => settle(waiter, true);
    const waiters = createCallWaiters({ ...options, owned, onTimeout });
    const abandoned = new Set<string>();
    const live = new Map<string, Set<string>>();

    const over = (call: OpenCall): void => {
      open.remove(call);
      abandoned.delete(call.callId);
      for (const waiter of waiters.over(call.callId)) settle(waiter, false);
    };
    const settle = (waiter: CallWaiter, timedOut: boolean): void => {
      waiters.leave(waiter);
      say({ type: "settled", key: waiter.key, timedOut });
    };

    /** While a call waits in its queue, those who run there stand in its way, until one of them ends. */
    const inTheWayOf = function* (callIds: Iterable<string>): Iterable<WaitTarget> {
      for (const callId of callIds) {
        const call = open.of(callId);
        if (call === undefined) continue;
        const there = call.instanceId ?? [...(live.get(call.agent) ?? [])];
        if (there.length > 0) yield there;
      }
    };
    const wait = (command: Extract<CallCommand, { type: "wait" }>): void => {
      const { key, instanceId, until } = command;
      const waited = [...new Set(command.callIds)].flatMap((callId) => open.of(callId) ?? []);
      if (waited.length === 0) return say({ type: "settled", key, timedOut: false });
      const left = new Set(waited.map(({ callId }) => callId));
      const waitsFor = (): Iterable<WaitTarget> => inTheWayOf(left);
      const path = waiters.join({ key, instanceId, left, until, waitsFor });
      if (path === null) say({ type: "waiting", key, calls: waited });
      else say({ type: "refused", key, path });
    };

    const started = (item: WorkItem, instanceId: string): void => {
      addTo(live, item.agent, instanceId);
      const call = open.ofItem(item);
      if (call === undefined) return;
      const running = { ...call, itemId: item.id, instanceId };
      open.set(running);
      if (abandoned.has(call.callId)) say({ type: "abandoned", call: running });
    };
    const finished = (event: Extract<RunEvent, { type: "finished" }>): void => {
      const { item, instanceId, end } = event;
      removeFrom(live, item.agent, instanceId);
      const call = open.ofItem(item);
      if (call !== undefined) {
        const again = isRetried(item, end.outcome) && !abandoned.has(call.callId);
        if (again) open.set({ ...call, instanceId: null });
        else over(call);
      }
      abandonCallsOf(instanceId);
    };
    const abandonCallsOf = (instanceId: string): void => {
      for (const waiter of waiters.ofRun(instanceId)) waiters.leave(waiter);
      const unwanted = open.madeBy(instanceId).filter(({ cancelOnExit }) => cancelOnExit);
      for (const { callId } of unwanted) abandoned.add(callId);
      // Those that wait first: the end of one that runs would start the next.
      const queued = unwanted.filter((call) => call.instanceId === null);
      const running = unwanted.filter((call) => call.instanceId !== null);
      for (const call of [...queued, ...running]) say({ type: "abandoned", call });
    };

    const see = (event: RunEvent): void => {
      if (event.type === "started") started(event.item, event.instanceId);
      if (event.type === "finished") finished(event);
      if (event.type !== "refused" && event.type !== "taken") return;
      const call = open.ofItem(event.item);
      if (call !== undefined) over(call);
    };
    return (command: CallCommand): void => {
      switch (command.type) {
        case "made":
          return open.set(command.call);
        case "wait":
          return wait(command);
        case "cancel": {
          const waiter = waiters.of(command.key);
          if (waiter !== undefined) waiters.leave(waiter);
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
