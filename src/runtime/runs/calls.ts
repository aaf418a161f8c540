import { createArtifactStore } from "../../features/artifacts/artifact-store.ts";
import { calledFiles } from "../../features/artifacts/artifacts.ts";
import type { OpenCall } from "../../foundation/contracts/run-state.ts";
import { createCalls, type CallEvent } from "./rules/calls.ts";
import { withKey } from "../../../streams/triggers/with-key.ts";
import { drive } from "../../foundation/drive.ts";
import type { WaitGraph } from "./rules/wait-graph.ts";
import type { RunEvent, WorkItem, RunRequest, Trigger } from "../../../streams/vocabulary.ts";
import { refusal, type RunApiRequest } from "../wire/protocol.ts";
import type { RunMatch } from "../../foundation/store/receipts.ts";
import type { CallState } from "../../foundation/store/calls.ts";
import type { callRequests } from "../wire/requests/calls.ts";
import type { PendingRequest } from "./pending-requests.ts";
import type { Performers } from "./live-run.ts";
import type { RequestContext } from "./request-context.ts";
import type { Gates } from "./gates.ts";
import { fromOperation } from "./refusals.ts";
import { v7 as uuidV7 } from "uuid";

/** Limit of calls in one tree, over all its runs. */
const maxCallsOfTree = 100;

/** A request that waits for calls; its answer is whether it timed out before. */
type CallWait = PendingRequest<boolean>;

/** Calls as work of the agents that are called. `matchCall` matches a call with a run that waits for one. */
export function createCallRequests(
  context: RequestContext,
  graph: WaitGraph,
  matchCall: (agent: string, call: CallTrigger) => RunMatch,
  gates: Gates,
) {
  const { clock, store, runs, firstEvents } = context;
  const artifacts = store.tables(createArtifactStore);

  const { apply, stop } = drive(createCalls<CallWait>(graph), clock, (event) =>
    onCallEvent(event, context),
  );

  const read = async (instanceId: string, callIds: readonly string[]) => {
    const found = await store.calls.read(instanceId, callIds);
    const missing = callIds.find((callId) => !found.some((call) => call.callId === callId));
    if (missing === undefined) return found;
    throw refusal("unknown_call", `This run made no call ${missing}.`);
  };

  /** Adds the call, or passes it to a run that waits for one. */
  const make = async (item: CallItem): Promise<"queued" | "taken" | "known"> => {
    const runMatch = matchCall(item.agent, item.trigger);
    const waitingRun = runMatch.waitingRuns[0] ?? null;
    try {
      const added = await store.calls.add(item, maxCallsOfTree, waitingRun);
      runMatch.deliver(added === "taken");
      if (added !== "too_many") return added;
    } catch (error) {
      runMatch.deliver(false);
      throw error;
    }
    const detail = `The tree of calls that this run belongs to contains ${maxCallsOfTree} calls already.`;
    throw refusal("too_many_calls", detail);
  };
  const stateAtFirst = async (item: CallItem): Promise<CallState["state"]> => {
    const call = openCall(item);
    apply({ type: "made", call });
    // Called before the item is dispatched: the first event may come within that very call.
    const first = firstEvents.of(item.id);
    context.dispatch([item]);
    // The caller may have ended while its call was committed.
    const { callerInstance: instanceId } = call;
    if (runs.find(instanceId) === undefined) apply({ type: "caller-ended", instanceId });
    const { type } = await first.catch(() => ({ type: "queued" }));
    return type === "started" ? "running" : type === "refused" ? "ended" : "queued";
  };

  const performers: Performers<keyof typeof callRequests> = {
    call: async (run, request) => {
      const { instanceId, key } = request;
      const [known] = await store.calls.read(instanceId, [key]);
      if (known !== undefined && known.agent !== request.request.agent) {
        throw refusal("malformed", "Another call has this key already.");
      }
      if (known !== undefined) return { ok: true, callId: key, state: known.state };
      assertAllowed(callItem(request, run.request, clock.now()), context);
      const { agent, context: text } = request.request;
      const denied = await gates.call(run, agent, text, request.signal);
      if (denied !== null) throw refusal("not_approved", `No call of ${agent}: ${denied}.`);
      // The wait for a person may have taken a day.
      const own = callItem(request, run.request, clock.now());
      assertAllowed(own, context);
      const item = withKey(own, context.configOf(agent) ?? null);
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
      const timedOut = await run.pending.ask<boolean>(request, (pending) => {
        apply({ type: "wait", request: pending, instanceId, callIds, until });
        return () => {
          apply({ type: "cancel", request: pending });
          pending.abandon();
        };
      });
      return { ok: true, timedOut, calls: [...(await read(instanceId, callIds))] };
    },
    "call-files": ({ instanceId }, { request: { callId, path } }) => {
      const { isOver, files, leftOut } = calledFiles(artifacts, callId, instanceId);
      const wanted = files.filter((file) => path === undefined || isAt(file.path, path));
      if (isOver && path !== undefined && wanted.length === 0) {
        throw refusal("malformed", `The called agent left no file ${JSON.stringify(path)}.`);
      }
      const listed = wanted.slice(0, listedFiles).map((file) => {
        return { path: file.path, bytes: file.bytes, isText: file.kind === "text" };
      });
      const state = isOver ? "ended" : "running";
      const more = wanted.length - listed.length;
      return Promise.resolve({ ok: true, state, files: listed, more, leftOut: [...leftOut.files] });
    },
  };
  return {
    performers,
    onEvent: (event: RunEvent) => apply({ type: "event", event }),
    /** Takes over the calls of an earlier scheduler. Callers that are not among `alive` have ended. */
    restore: (alive: ReadonlySet<string>) => {
      const left = store.calls.open();
      for (const call of left) apply({ type: "made", call });
      for (const instanceId of new Set(left.map(({ callerInstance }) => callerInstance))) {
        if (!alive.has(instanceId)) apply({ type: "caller-ended", instanceId });
      }
    },
    stop,
  };
}

/** The most files that an answer names. */
const listedFiles = 200;

function isAt(path: string, wanted: string): boolean {
  return path === wanted || path.startsWith(`${wanted.replace(/\/$/, "")}/`);
}

function onCallEvent(event: CallEvent<CallWait>, { abandon }: RequestContext): void {
  switch (event.type) {
    case "abandoned":
      return abandon(event.call);
    case "waiting": {
      const agents = new Set(event.calls.map(({ agent }) => agent));
      const text = `waits for ${[...agents].join(", ")}`;
      return event.request.suspend({ pausesClock: false, text });
    }
    case "settled":
      return event.request.answer(event.timedOut);
    case "refused": {
      const path = event.path.join(" → ");
      const detail = `This wait would never end, because these runs wait for each other: ${path}.`;
      return event.request.refuse(refusal("deadlock", detail, { path: [...event.path] }));
    }
  }
}

function assertAllowed({ agent, trigger }: CallItem, context: RequestContext): void {
  const { maxCallDepth } = context.project();
  if (agent === trigger.caller) {
    throw refusal("self_call", `The agent "${agent}" can't call itself.`);
  }
  try {
    context.mustBeRunnable(agent);
  } catch (error) {
    throw fromOperation(error);
  }
  if (trigger.depth > maxCallDepth) {
    const detail = `This run is ${trigger.depth - 1} calls deep already, and maxCallDepth is ${maxCallDepth}.`;
    throw refusal("too_deep", detail);
  }
}

export type CallTrigger = Extract<Trigger, { kind: "agent-call" }>;
type CallItem = WorkItem & { readonly trigger: CallTrigger };

/** A run's call, as work of the called agent. The tree of calls begins with a run that was not called. */
function callItem(
  { instanceId, key, request }: RunApiRequest<"call">,
  { agent: caller, item }: RunRequest,
  at: number,
): CallItem {
  const { trigger } = item;
  const called = trigger.kind === "agent-call";
  return {
    id: uuidV7(),
    agent: request.agent,
    at,
    attempt: 1,
    trigger: {
      kind: "agent-call",
      callId: key,
      caller: caller.name,
      callerInstance: instanceId,
      depth: called ? trigger.depth + 1 : 1,
      root: called ? trigger.root : item.id,
      context: request.context,
      cancelOnExit: request.cancelOnExit ?? false,
    },
  };
}

/** A call that waits in its queue. */
function openCall({ id, agent, trigger }: CallItem): OpenCall {
  const { callId, callerInstance, cancelOnExit } = trigger;
  return { callId, itemId: id, agent, callerInstance, cancelOnExit, instanceId: null };
}
