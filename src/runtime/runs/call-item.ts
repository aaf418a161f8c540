import type { OpenCall } from "../../foundation/contracts/run-state.ts";
import type { RunRequest, Trigger, WorkItem } from "../../../streams/vocabulary.ts";
import type { RunApiRequest } from "../../foundation/contracts/run-api.ts";
import { v7 as uuidV7 } from "uuid";

export type CallTrigger = Extract<Trigger, { kind: "agent-call" }>;
export type CallItem = WorkItem & { readonly trigger: CallTrigger };

/** The call that a run makes, as work of the called agent. The tree of calls begins with a run that was not called. */
export function callItem(
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
export function openCall({ id, agent, trigger }: CallItem): OpenCall {
  const { callId, callerInstance, cancelOnExit } = trigger;
  return { callId, itemId: id, agent, callerInstance, cancelOnExit, instanceId: null };
}
