import { durationText } from "../../../../streams/duration-text.ts";
import type { HistoryEntry } from "../../../foundation/contracts/history.ts";
import { triggerWords, whyText } from "./trigger-words.ts";

/** A call with the calls of its run. */
export interface CallNode {
  readonly entry: HistoryEntry;
  readonly calls: readonly CallNode[];
}

/** The entries of a tree of calls: the calls of a run below it, each entry once. */
export function callNodes(entries: readonly HistoryEntry[]): readonly CallNode[] {
  // A call delivered to a waiting run has that run's instance, but made no calls.
  const runs = new Set(entries.filter(hasRun).map(({ instanceId }) => instanceId));
  const nodeOf = (entry: HistoryEntry): CallNode => ({
    entry,
    calls: hasRun(entry)
      ? entries.filter(({ caller }) => caller === entry.instanceId).map(nodeOf)
      : [],
  });
  return entries.filter(({ caller }) => caller === null || !runs.has(caller)).map(nodeOf);
}

/** Whether a run of its own was started for the entry. */
export function hasRun({ instanceId, startedAt }: HistoryEntry): boolean {
  return instanceId !== null && startedAt !== null;
}

/** Whether the entry is a call, made calls, or returned a value. */
export function hasCalls({ kind, calls, value }: HistoryEntry): boolean {
  return kind === "agent-call" || calls > 0 || value !== null;
}

/** Duration of a call, and the reason of its end. */
export function callDetails(entry: HistoryEntry): string {
  const { durationMs, kind, attempt } = entry;
  const parts = [
    durationMs === null ? "" : durationText(durationMs),
    kind === "agent-call" ? "" : triggerWords(entry),
    attempt > 1 ? `attempt ${attempt}` : "",
    whyText(entry),
  ];
  return parts.filter((part) => part !== "").join(" · ");
}

/** Parsed JSON, or the text itself. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A value as text that is easy to read. */
export function prettyText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
