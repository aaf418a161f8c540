import type { WorkItem } from "../vocabulary.ts";
import { addTo, removeFrom } from "./sets-by-key.ts";

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
