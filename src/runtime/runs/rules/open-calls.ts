import type { OpenCall } from "../../../foundation/contracts/run-state.ts";
import type { WorkItem } from "../../../../streams/vocabulary.ts";
import { addTo, removeFrom } from "./sets-by-key.ts";

/** The calls that are not over. */
export interface OpenCalls {
  of(callId: string): OpenCall | undefined;
  ofItem(item: WorkItem): OpenCall | undefined;
  madeBy(instanceId: string): readonly OpenCall[];
  /** Adds or updates it. */
  set(call: OpenCall): void;
  remove(call: OpenCall): void;
}

/** No calls. */
export function createOpenCalls(): OpenCalls {
  const open = new Map<string, OpenCall>();
  const byCaller = new Map<string, Set<string>>();
  return {
    of: (callId) => open.get(callId),
    ofItem: ({ trigger }) => (trigger.kind === "agent-call" ? open.get(trigger.callId) : undefined),
    madeBy: (instanceId) =>
      [...(byCaller.get(instanceId) ?? [])].flatMap((callId) => open.get(callId) ?? []),
    set: (call) => {
      open.set(call.callId, call);
      addTo(byCaller, call.callerInstance, call.callId);
    },
    remove: ({ callId, callerInstance }) => {
      open.delete(callId);
      removeFrom(byCaller, callerInstance, callId);
    },
  };
}
