import type { Condition } from "./condition.ts";

/** A resource that one run has for itself. Times are epoch ms. */
export interface HeldLock {
  /** A URI. */
  readonly resource: string;
  readonly agent: string;
  readonly instanceId: string;
  /** Higher than that of any earlier holder of any resource. */
  readonly fencingToken: number;
  readonly heldSince: number;
  readonly expiresAt: number;
}

/** A call that is not over. */
export interface OpenCall {
  readonly callId: string;
  /** The work item of its latest attempt. */
  readonly itemId: string;
  /** Who is called. */
  readonly agent: string;
  readonly callerInstance: string;
  /** Whether it ends with its caller. */
  readonly cancelOnExit: boolean;
  /** Null while it waits in its queue. */
  readonly instanceId: string | null;
}

/** A run that waits for something to happen. Times are epoch ms. */
export interface Wait {
  /** Names the request; unique. */
  readonly key: string;
  readonly instanceId: string;
  readonly agent: string;
  readonly condition: Condition;
  readonly since: number;
  /** When it has waited long enough. */
  readonly until: number;
  /** How long it was to wait, in ms, where that is longer than it may; else absent. */
  readonly askedMs?: number;
}
