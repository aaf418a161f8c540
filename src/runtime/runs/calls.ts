import type { OpenCall } from "../../foundation/contracts/run-state.ts";
import type { Clock } from "../../../streams/clock.ts";
import { createCalls } from "./rules/calls.ts";
import type { CallEvent } from "./rules/calls.ts";
import { drive } from "../../../streams/machine.ts";
import type { WaitGraph } from "./rules/wait-graph.ts";
import type { RunEvent, WorkItem } from "../../../streams/vocabulary.ts";
import { refusal } from "../../foundation/contracts/run-api.ts";
import type { RunMatch } from "../../foundation/contracts/webhook-receipts.ts";
import type { CallState } from "../../foundation/store/calls.ts";
import type { callRequests } from "../../foundation/contracts/run-requests/calls.ts";
import type { Store } from "../../foundation/store/store.ts";
import { callItem, openCall } from "./call-item.ts";
import type { CallItem, CallTrigger } from "./call-item.ts";
import type { FirstEvents } from "./first-events.ts";
import type { PendingRequest } from "./pending-requests.ts";
import type { Performers } from "./live-run.ts";
import { fromOperation } from "./refusals.ts";

export interface CallDeps {
  readonly clock: Clock;
  readonly graph: WaitGraph;
  readonly store: Pick<Store, "calls">;
  readonly firstEvents: Pick<FirstEvents, "of">;
  readonly isLive: (instanceId: string) => boolean;
  /** Throws an OperationError with the reason why the agent can't run. */
  readonly mustBeRunnable: (agent: string) => void;
  readonly maxDepth: () => number;
  readonly matchCall: (agent: string, call: CallTrigger) => RunMatch;
  /** Dispatches committed work. */
  readonly dispatch: (items: readonly WorkItem[]) => void;
  /** Ends a call whose caller ended. */
  readonly abandon: (call: OpenCall) => void;
}

export interface CallRequests {
  readonly performers: Performers<keyof typeof callRequests>;
  onEvent(event: RunEvent): void;
  /** Takes over the calls of an earlier scheduler. Callers that are not among `alive` have ended. */
  restore(alive: ReadonlySet<string>): void;
  readonly stop: () => void;
}

/** Calls in one tree, whichever runs make them. */
const maxCallsOfTree = 100;

/** A request that waits for calls; its answer is whether its time was up before. */
type CallWait = PendingRequest<boolean>;

/** Calls as work of the agents that are called. */
export function createCallRequests(deps: CallDeps): CallRequests {
  const { clock, store } = deps;

  const onCallEvent = (event: CallEvent<CallWait>): void => {
    switch (event.type) {
      case "abandoned":
        return deps.abandon(event.call);
      case "waiting": {
        const agents = new Set(event.calls.map(({ agent }) => agent));
        const text = `waits for ${[...agents].join(", ")}`;
        return event.request.suspend({ pausesClock: false, text });
      }
      case "settled":
        return event.request.answer(event.timedOut);
      case "refused": {
        const path = event.path.join(" → ");
        const detail = `This wait would never end, as these wait for each other: ${path}.`;
        return event.request.refuse(refusal("deadlock", detail, { path: [...event.path] }));
      }
    }
  };
  const { apply, stop } = drive(createCalls<CallWait>(deps.graph), clock, onCallEvent);

  const read = async (
    instanceId: string,
    callIds: readonly string[],
  ): Promise<readonly CallState[]> => {
    const found = await store.calls.read(instanceId, callIds);
    const missing = callIds.find((callId) => !found.some((call) => call.callId === callId));
    if (missing === undefined) return found;
    throw refusal("unknown_call", `This run made no call ${missing}.`);
  };

  /** Adds the call, or gives it to a run that waits for one. */
  const make = async (item: CallItem): Promise<"queued" | "taken" | "known"> => {
    const runMatch = deps.matchCall(item.agent, item.trigger);
    const waitingRun = runMatch.waitingRuns[0] ?? null;
    try {
      const added = await store.calls.add(item, maxCallsOfTree, waitingRun);
      runMatch.deliver(added === "taken");
      if (added !== "too_many") return added;
    } catch (error) {
      runMatch.deliver(false);
      throw error;
    }
    const detail = `The tree of calls that this run belongs to holds ${maxCallsOfTree} calls already.`;
    throw refusal("too_many_calls", detail);
  };
  const stateAtFirst = async (item: CallItem): Promise<CallState["state"]> => {
    const call = openCall(item);
    apply({ type: "made", call });
    // Asked before the item is dispatched: the first event may come within that very call.
    const first = deps.firstEvents.of(item.id);
    deps.dispatch([item]);
    // It may have ended while its call was committed.
    const { callerInstance: instanceId } = call;
    if (!deps.isLive(instanceId)) apply({ type: "caller-ended", instanceId });
    const { type } = await first.catch(() => ({ type: "queued" }));
    return type === "started" ? "running" : type === "refused" ? "ended" : "queued";
  };

  return {
    performers: {
      call: async (run, request) => {
        const { instanceId, key } = request;
        const [known] = await store.calls.read(instanceId, [key]);
        if (known !== undefined && known.agent !== request.request.agent) {
          throw refusal("malformed", "This key is that of another call.");
        }
        if (known !== undefined) return { ok: true, callId: key, state: known.state };
        const item = callItem(request, run.request, clock.now());
        assertAllowed(item, deps);
        const made = await make(item);
        if (made === "taken") return { ok: true, callId: key, state: "ended" };
        if (made === "queued") return { ok: true, callId: key, state: await stateAtFirst(item) };
        const [again] = await read(instanceId, [key]);
        return { ok: true, callId: key, state: again?.state ?? "queued" };
      },
      "call-check": async ({ instanceId }, { request }) => {
        return { ok: true, calls: [...(await read(instanceId, request.callIds))] };
      },
      "call-wait": async (run, request) => {
        const { instanceId } = run;
        const { callIds, timeoutSeconds } = request.request;
        await read(instanceId, callIds);
        const until = timeoutSeconds === undefined ? null : clock.now() + timeoutSeconds * 1000;
        const timedOut = await run.pending["call-wait"].ask(request, (pending) => {
          apply({ type: "wait", request: pending, instanceId, callIds, until });
          return () => {
            apply({ type: "cancel", request: pending });
            pending.abandon();
          };
        });
        return { ok: true, timedOut, calls: [...(await read(instanceId, callIds))] };
      },
    },
    onEvent: (event) => apply({ type: "event", event }),
    restore: (alive) => {
      const left = store.calls.open();
      for (const call of left) apply({ type: "made", call });
      for (const instanceId of new Set(left.map(({ callerInstance }) => callerInstance))) {
        if (!alive.has(instanceId)) apply({ type: "caller-ended", instanceId });
      }
    },
    stop,
  };
}

function assertAllowed({ agent, trigger }: CallItem, deps: CallDeps): void {
  if (agent === trigger.caller) {
    throw refusal("self_call", `The agent "${agent}" can't call itself.`);
  }
  try {
    deps.mustBeRunnable(agent);
  } catch (error) {
    throw fromOperation(error);
  }
  if (trigger.depth > deps.maxDepth()) {
    const detail = `This run is ${trigger.depth - 1} calls deep already, and maxCallDepth is ${deps.maxDepth()}.`;
    throw refusal("too_deep", detail);
  }
}
