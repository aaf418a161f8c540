import type { OpenCall } from "../../../foundation/contracts/run-state.ts";
import { isRetried, type RunEvent, type WorkItem } from "../../../../streams/vocabulary.ts";
import { createWaiters } from "./waiters.ts";
import { createMachine, type Machine } from "../../../../streams/machine.ts";
import { addTo, removeFrom, type WaitGraph, type WaitTarget } from "./wait-graph.ts";

/** `R` is the request of a run, as its events name it. */
export type CallCommand<R> =
  /** The call is committed, and will be dispatched. */
  | { readonly type: "made"; readonly call: OpenCall }
  /** A run waits until all of these have ended; a call that is not open has ended. */
  | {
      readonly type: "wait";
      readonly request: R;
      readonly instanceId: string;
      readonly callIds: readonly string[];
      /** Epoch ms; null without a timeout. */
      readonly until: number | null;
    }
  | { readonly type: "cancel"; readonly request: R }
  | { readonly type: "event"; readonly event: RunEvent }
  /** A caller ended without an event. */
  | { readonly type: "caller-ended"; readonly instanceId: string };

export type CallEvent<R> =
  | { readonly type: "waiting"; readonly request: R; readonly calls: readonly OpenCall[] }
  | { readonly type: "settled"; readonly request: R; readonly timedOut: boolean }
  /** The wait would close a cycle; `path` goes from the requesting run back to itself. */
  | { readonly type: "refused"; readonly request: R; readonly path: readonly string[] }
  /** The caller ended, and the call with it. Emitted again if it still starts. */
  | { readonly type: "abandoned"; readonly call: OpenCall };

interface CallWaiter<R> {
  readonly request: R;
  readonly instanceId: string;
  /** The calls that have not ended. */
  readonly left: Set<string>;
}

/**
 * Calls from one run to another agent, and the runs that wait for them. A wait that would close a cycle of waits is
 * refused. The graph of waits is shared with all else that runs wait for.
 *
 *     commands:  ─m──w──s──f──     m made, w wait, s the callee started, f it finished
 *     events:    ────w─────s──     w waiting, s settled
 */
export function createCalls<R>(graph: WaitGraph): Machine<CallCommand<R>, CallEvent<R>> {
  return createMachine(({ emit, timers }) => {
    const open = new Map<string, OpenCall>();
    const waiters = createWaiters<R, CallWaiter<R>>(graph, timers, (waiter) =>
      settle(waiter, true),
    );
    const waitersOf = new Map<string, Set<CallWaiter<R>>>();
    const abandoned = new Set<string>();
    const live = new Map<string, Set<string>>();
    const callOf = ({ trigger }: WorkItem): OpenCall | undefined =>
      trigger.kind === "agent-call" ? open.get(trigger.callId) : undefined;

    const over = ({ callId }: OpenCall): void => {
      open.delete(callId);
      abandoned.delete(callId);
      for (const waiter of waitersOf.get(callId) ?? []) {
        waiter.left.delete(callId);
        if (waiter.left.size === 0) settle(waiter, false);
      }
      waitersOf.delete(callId);
    };
    const leave = (waiter: CallWaiter<R>): void => {
      waiters.leave(waiter);
      for (const callId of waiter.left) removeFrom(waitersOf, callId, waiter);
    };
    const settle = (waiter: CallWaiter<R>, timedOut: boolean): void => {
      leave(waiter);
      emit({ type: "settled", request: waiter.request, timedOut });
    };

    const wait = (command: Extract<CallCommand<R>, { type: "wait" }>): void => {
      const { request, instanceId, until } = command;
      const calls = [...new Set(command.callIds)].flatMap((callId) => open.get(callId) ?? []);
      if (calls.length === 0) return emit({ type: "settled", request, timedOut: false });
      const left = new Set(calls.map(({ callId }) => callId));
      const waiter = { request, instanceId, left };
      const path = waiters.join(waiter, until, () => inTheWayOf(left, open, live));
      if (path !== null) return emit({ type: "refused", request, path });
      for (const callId of left) addTo(waitersOf, callId, waiter);
      emit({ type: "waiting", request, calls });
    };

    const started = (item: WorkItem, instanceId: string): void => {
      addTo(live, item.agent, instanceId);
      const call = callOf(item);
      if (call === undefined) return;
      const running = { ...call, itemId: item.id, instanceId };
      open.set(call.callId, running);
      if (abandoned.has(call.callId)) emit({ type: "abandoned", call: running });
    };
    const finished = (event: Extract<RunEvent, { type: "finished" }>): void => {
      const { item, instanceId, end } = event;
      removeFrom(live, item.agent, instanceId);
      const call = callOf(item);
      if (call !== undefined) {
        const again = isRetried(item, end) && !abandoned.has(call.callId);
        if (again) open.set(call.callId, { ...call, instanceId: null });
        else over(call);
      }
      abandonCallsOf(instanceId);
    };
    const abandonCallsOf = (instanceId: string): void => {
      waiters.ofRun(instanceId).forEach(leave);
      const unwanted = unwantedCalls(instanceId, open);
      for (const { callId } of unwanted) abandoned.add(callId);
      for (const call of unwanted) emit({ type: "abandoned", call });
    };

    const onEvent = (event: RunEvent): void => {
      if (event.type === "started") started(event.item, event.instanceId);
      if (event.type === "finished") finished(event);
      if (event.type !== "refused" && event.type !== "taken") return;
      const call = callOf(event.item);
      if (call !== undefined) over(call);
    };
    return (command: CallCommand<R>): void => {
      switch (command.type) {
        case "made":
          return void open.set(command.call.callId, command.call);
        case "wait":
          return wait(command);
        case "cancel": {
          const waiter = waiters.of(command.request);
          if (waiter !== undefined) leave(waiter);
          return;
        }
        case "event":
          return onEvent(command.event);
        case "caller-ended":
          return abandonCallsOf(command.instanceId);
      }
    };
  });
}

/** While a call waits in its queue, the runs of its agent block it, until one of them ends. */
function* inTheWayOf(
  callIds: Iterable<string>,
  open: ReadonlyMap<string, OpenCall>,
  live: ReadonlyMap<string, ReadonlySet<string>>,
): Iterable<WaitTarget> {
  for (const callId of callIds) {
    const call = open.get(callId);
    if (call === undefined) continue;
    const there = call.instanceId ?? [...(live.get(call.agent) ?? [])];
    if (there.length > 0) yield there;
  }
}

/** The calls that end with their caller. Queued ones first: the end of a running one would start the next. */
function unwantedCalls(caller: string, open: ReadonlyMap<string, OpenCall>): readonly OpenCall[] {
  return [...open.values()]
    .filter(({ callerInstance, cancelOnExit }) => callerInstance === caller && cancelOnExit)
    .toSorted((a, b) => Number(a.instanceId !== null) - Number(b.instanceId !== null));
}
