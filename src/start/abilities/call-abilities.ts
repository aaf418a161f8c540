import { ignoreElements, Subject, tap } from "rxjs";
import type { Observable } from "rxjs";
import type { Clock } from "../../../streams/clock.ts";
import { calls } from "../../../streams/coordination/calls.ts";
import type { CallCommand, CallEvent } from "../../../streams/coordination/calls.ts";
import type { OpenCall } from "../../../streams/coordination/open-calls.ts";
import type { WaitGraph } from "../../../streams/coordination/wait-graph.ts";
import type { RunEvent, RunRequest, WorkItem } from "../../../streams/vocabulary.ts";
import { refusal } from "../../contracts/run-api.ts";
import type { RequestAnswer, RunApiRequest } from "../../contracts/run-api.ts";
import type { Offer } from "../../contracts/webhook-receipts.ts";
import type { CallState } from "../../store/calls.ts";
import type { Store } from "../../store/store.ts";
import { uuidV7 } from "../../store/uuid-v7.ts";
import type { FirstEvents } from "../first-events.ts";
import type { OpenRequests } from "./open-requests.ts";
import { fromOperation } from "./refusal.ts";
import { createRestingRequests } from "./resting-requests.ts";
import type { Rests } from "./rests.ts";
import type { CallTrigger } from "./wait-offers.ts";

export interface CallDeps {
  readonly clock: Clock;
  readonly graph: WaitGraph;
  readonly store: Pick<Store, "calls">;
  readonly requests: OpenRequests;
  readonly rests: Rests;
  readonly firstEvents: Pick<FirstEvents, "of">;
  /** What a live run was started with; throws when it does not live. */
  readonly runOf: (instanceId: string) => RunRequest;
  readonly isLive: (instanceId: string) => boolean;
  /** Throws an OperationError that says why the agent can't run. */
  readonly mustBeRunnable: (agent: string) => void;
  readonly maxDepth: () => number;
  readonly offerCall: (agent: string, call: CallTrigger) => Offer;
  /** Hands on committed work. */
  readonly dispatch: (items: readonly WorkItem[]) => void;
  /** Ends a call that nobody wants any more. */
  readonly abandon: (call: OpenCall) => void;
}

export interface CallAbilities {
  call(request: RunApiRequest<"call">): Promise<RequestAnswer<"call">>;
  check(request: RunApiRequest<"call-check">): Promise<RequestAnswer<"call-check">>;
  wait(request: RunApiRequest<"call-wait">): Promise<RequestAnswer<"call-wait">>;
  see(event: RunEvent): void;
  /** Takes over the calls that an earlier scheduler left. Callers that live no more have ended. */
  restore(alive: ReadonlySet<string>): void;
  /** Does the work while it is subscribed. */
  readonly work$: Observable<never>;
}

/** Calls in one tree, whoever makes them. */
const maxCallsOfTree = 100;

/** Calls as work of the agents that are called. */
export function createCallAbilities(deps: CallDeps): CallAbilities {
  const { clock, graph, store, requests, rests } = deps;
  const command$ = new Subject<CallCommand>();
  const resting = createRestingRequests(requests, rests);

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
  const make = async (
    item: WorkItem,
    trigger: CallTrigger,
  ): Promise<"queued" | "taken" | "known"> => {
    const offer = deps.offerCall(item.agent, trigger);
    const taker = offer.takers[0] ?? null;
    try {
      const added = await store.calls.add(item, maxCallsOfTree, taker);
      offer.settle(added === "taken");
      if (added !== "too_many") return added;
    } catch (error) {
      offer.settle(false);
      throw error;
    }
    const detail = `The tree of calls that this run belongs to holds ${maxCallsOfTree} calls already.`;
    throw refusal("too_many_calls", detail);
  };
  const stateAtFirst = async (
    item: WorkItem,
    call: OpenCall,
  ): Promise<"queued" | "running" | "ended"> => {
    command$.next({ type: "made", call });
    // Asked before the item is handed on: the first event may come within that very call.
    const first = deps.firstEvents.of(item.id);
    deps.dispatch([item]);
    // It may have ended while its call was committed.
    const { callerInstance: instanceId } = call;
    if (!deps.isLive(instanceId)) command$.next({ type: "caller-ended", instanceId });
    const { type } = await first.catch(() => ({ type: "queued" }));
    return type === "started" ? "running" : type === "refused" ? "ended" : "queued";
  };

  const see = (event: CallEvent): void => {
    switch (event.type) {
      case "abandoned":
        return deps.abandon(event.call);
      case "waiting":
        return rest(event.key, event.calls);
      case "settled":
        return resting.answer(event.key, event.timedOut);
      case "refused": {
        const path = event.path.join(" → ");
        const detail = `This wait would never end, as these wait for each other: ${path}.`;
        return resting.refuse(event.key, refusal("deadlock", detail, { path: [...event.path] }));
      }
    }
  };
  const rest = (id: string, open: readonly OpenCall[]): void => {
    const instanceId = open[0]?.callerInstance;
    if (instanceId === undefined) return;
    const text = `waits for ${[...new Set(open.map(({ agent }) => agent))].join(", ")}`;
    resting.rest(id, instanceId, text);
  };
  const leave = (id: string): void => {
    command$.next({ type: "cancel", key: id });
    resting.leave(id);
  };

  return {
    call: async (request) => {
      const { instanceId, key } = request;
      const [known] = await store.calls.read(instanceId, [key]);
      if (known !== undefined && known.agent !== request.request.agent) {
        throw refusal("malformed", "This key is that of another call.");
      }
      if (known !== undefined) return { ok: true, callId: key, state: known.state };
      const item = callItem(request, deps.runOf(instanceId), clock.now());
      const { trigger } = item;
      mustBeAllowed(item, deps);
      const made = await make(item, trigger);
      if (made === "taken") return { ok: true, callId: key, state: "ended" };
      if (made === "queued") {
        return { ok: true, callId: key, state: await stateAtFirst(item, openCall(item)) };
      }
      const [again] = await read(instanceId, [key]);
      return { ok: true, callId: key, state: again?.state ?? "queued" };
    },
    check: async ({ instanceId, request }) => {
      return { ok: true, calls: [...(await read(instanceId, request.callIds))] };
    },
    wait: async (request) => {
      const { instanceId } = request;
      const { callIds, timeoutSeconds } = request.request;
      await read(instanceId, callIds);
      const until = timeoutSeconds === undefined ? null : clock.now() + timeoutSeconds * 1000;
      const begin = (key: string): void =>
        command$.next({ type: "wait", key, instanceId, callIds, until });
      const timedOut = (await requests.ask(request, begin, leave)) as boolean;
      return { ok: true, timedOut, calls: [...(await read(instanceId, callIds))] };
    },
    see: (event) => {
      if (event.type === "finished") resting.end(event.instanceId);
      command$.next({ type: "event", event });
    },
    restore: (alive) => {
      const left = store.calls.open();
      for (const call of left) command$.next({ type: "made", call });
      for (const instanceId of new Set(left.map(({ callerInstance }) => callerInstance))) {
        if (!alive.has(instanceId)) command$.next({ type: "caller-ended", instanceId });
      }
    },
    work$: command$.pipe(calls({ clock, graph }), tap(see), ignoreElements()),
  };
}

type CallItem = WorkItem & { readonly trigger: CallTrigger };

/** The tree of calls begins with the run that no other run called. */
function callItem(
  { instanceId, key, request }: RunApiRequest<"call">,
  run: RunRequest,
  at: number,
): CallItem {
  const { trigger } = run.item;
  const called = trigger.kind === "agent-call";
  return {
    id: uuidV7(),
    agent: request.agent,
    at,
    attempt: 1,
    trigger: {
      kind: "agent-call",
      callId: key,
      caller: run.agent.name,
      callerInstance: instanceId,
      depth: called ? trigger.depth + 1 : 1,
      root: called ? trigger.root : run.item.id,
      context: request.context,
      cancelOnExit: request.cancelOnExit ?? false,
    },
  };
}

function mustBeAllowed({ agent, trigger }: CallItem, deps: CallDeps): void {
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

function openCall({ id, agent, trigger }: CallItem): OpenCall {
  const { callId, callerInstance, cancelOnExit } = trigger;
  return { callId, itemId: id, agent, callerInstance, cancelOnExit, instanceId: null };
}
