import { unmetPaths } from "../../../streams/where.ts";
import type { Where } from "../../../streams/where.ts";

/** What a run waits for; what is absent may be anything. */
export interface Condition {
  readonly kind: "webhook" | "agent-call";
  /** Webhook source, or the calling agent. */
  readonly source?: string | undefined;
  readonly event?: string | undefined;
  readonly where?: Where | undefined;
}

/** What may end a wait. */
export interface Occurrence {
  readonly kind: "webhook" | "agent-call";
  /** The agent that is called; null for a webhook, which any agent may wait for. */
  readonly agent: string | null;
  readonly source: string;
  /** Null for a call. */
  readonly event: string | null;
  /** Any JSON; undefined for a call whose context is none. */
  readonly payload: unknown;
}

/** Whether this is what is waited for. */
export function meets(occurrence: Occurrence, condition: Condition): boolean {
  const { kind, source, event, where = {} } = condition;
  if (kind !== occurrence.kind) return false;
  if (source !== undefined && source !== occurrence.source) return false;
  if (event !== undefined && event !== occurrence.event) return false;
  return unmetPaths(occurrence.payload, where).length === 0;
}
