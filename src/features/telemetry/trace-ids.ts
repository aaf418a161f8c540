import { hash } from "node:crypto";
import type { WorkItem } from "../../../streams/vocabulary.ts";

/*
 * The ids of traces and spans are hashes of the ids of work items and runs, so that a scheduler that adopts a run
 * continues its trace. https://www.w3.org/TR/trace-context
 */

/** The trace of a work item: all runs that call each other share the trace of the first. */
export function traceIdOf({ id, trigger }: Pick<WorkItem, "id" | "trigger">): string {
  return idOf("trace", trigger.kind === "agent-call" ? trigger.root : id, 32);
}

export const triggerSpanId = (itemId: string): string => idOf("trigger", itemId, 16);
export const runSpanId = (instanceId: string): string => idOf("run", instanceId, 16);

/** A span of a run, by its kind and an id that is unique in the run. */
export function spanIdInRun(kind: "chat" | "tool", instanceId: string, id: string): string {
  return idOf(kind, `${instanceId}/${id}`, 16);
}

/** Names the run's span to programs that the run starts. */
export function traceparentOf({
  item,
  instanceId,
}: {
  readonly item: WorkItem;
  readonly instanceId: string;
}): string {
  return `00-${traceIdOf(item)}-${runSpanId(instanceId)}-01`;
}

/** Hexadecimal; never all zeros, which is invalid, in practice. */
function idOf(kind: string, id: string, characters: 16 | 32): string {
  return hash("sha256", `${kind}/${id}`).slice(0, characters);
}
