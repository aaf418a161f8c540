import type { Lock } from "./operator-api.ts";
import type { InMs } from "../../../streams/iso-times.ts";
import { unmetPaths, type Where } from "../../../streams/where.ts";

/** A resource that one run holds exclusively. Times are epoch ms. */
export type HeldLock = InMs<Lock, "heldSince" | "expiresAt"> & {
  /** Higher than that of any earlier holder of any resource. */
  readonly fencingToken: number;
};

/** A call that is not over. */
export interface OpenCall {
  readonly callId: string;
  /** The work item of its latest attempt. */
  readonly itemId: string;
  /** The called agent. */
  readonly agent: string;
  readonly callerInstance: string;
  /** Whether it ends with its caller. */
  readonly cancelOnExit: boolean;
  /** Null while the call waits in its queue. */
  readonly instanceId: string | null;
}

/** A run that waits for something to happen. Times are epoch ms. */
export interface Wait {
  /** Identifies the request; unique. */
  readonly key: string;
  readonly instanceId: string;
  readonly agent: string;
  readonly condition: Condition;
  readonly since: number;
  /** When the wait times out. */
  readonly until: number;
  /** The requested timeout in ms, if it is longer than allowed; else absent. */
  readonly askedMs?: number;
}

/** The condition of a wait; an absent field matches anything. */
export interface Condition {
  readonly kind: "webhook" | "agent-call";
  /** Webhook source, or the calling agent. */
  readonly source?: string | undefined;
  readonly event?: string | undefined;
  readonly where?: Where | undefined;
}

/** An event that may end a wait. */
export interface Occurrence {
  readonly kind: "webhook" | "agent-call";
  /** The agent that is called; null for a webhook, which any agent may wait for. */
  readonly agent: string | null;
  readonly source: string;
  /** Null for a call. */
  readonly event: string | null;
  /** Any JSON; undefined for a call whose context is not JSON. */
  readonly payload: unknown;
}

/** Whether the event meets the condition. */
export function meets(occurrence: Occurrence, condition: Condition): boolean {
  const { kind, source, event, where = {} } = condition;
  if (kind !== occurrence.kind) return false;
  if (source !== undefined && source !== occurrence.source) return false;
  if (event !== undefined && event !== occurrence.event) return false;
  return unmetPaths(occurrence.payload, where).length === 0;
}
