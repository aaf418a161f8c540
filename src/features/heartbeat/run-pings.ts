import { isEndedOnPurpose, runErrorOf } from "../../../streams/status/agent-record.ts";
import { isRetried } from "../../../streams/vocabulary.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import type { Ping } from "./monitors.ts";

/** A ping names what went wrong, and is no report. In characters. */
const maxReason = 300;

/**
 * What the monitor of an agent is pinged with at an event of its runs; null for nothing. A run that a person ended was
 * neither a success nor a failure, and one whose work is tried again is not over.
 */
export function pingOf(event: RunEvent): Ping | null {
  if (event.type === "started") return event.startedAt === undefined ? { type: "started" } : null;
  if (event.type !== "finished") return null;
  const { end, item, instanceId, at, startedAt } = event;
  if (isEndedOnPurpose(end.outcome) || isRetried(item, end)) return null;
  const durationMs = at - startedAt;
  const error = runErrorOf(end);
  if (error === null) return { type: "succeeded", durationMs };
  return { type: "failed", durationMs, reason: `${instanceId} ${error}`.slice(0, maxReason) };
}
