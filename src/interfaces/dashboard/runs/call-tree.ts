import { durationText } from "../../../../streams/duration-text.ts";
import type { HistoryEntry } from "../../../foundation/contracts/history.ts";
import { joined } from "../text/format.ts";
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
  return joined([
    durationMs !== null && durationText(durationMs),
    kind !== "agent-call" && triggerWords(entry),
    attempt > 1 && `attempt ${attempt}`,
    whyText(entry),
  ]);
}

/** Parsed JSON, or the text itself. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The beginning of a long value, as stored in the history: its first text. */
const cutText = /^\{"[^"\\]*":("(?:[^"\\]|\\.)*)/;

/** A returned value on one line: its text without JSON around it, or its fields. */
export function valueLine(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") {
    const cut = cutText.exec(value)?.[1];
    return cut === undefined ? value : String(parsed(`${cut.replace(/\\$/, "")}"`));
  }
  if (typeof value !== "object") return JSON.stringify(value);
  const fields: [string, unknown][] = Object.entries(value);
  const only = fields.length === 1 ? fields[0]?.[1] : undefined;
  if (Array.isArray(value)) return value.map(valueLine).join(", ");
  if (typeof only === "string") return only;
  const text = ([name, inner]: [string, unknown]): string =>
    textFields.includes(name) && typeof inner === "string" ? inner : `${name}: ${valueLine(inner)}`;
  return fields.map(text).join(" · ");
}

/** Fields that are shown without their names, as their text is clear. */
const textFields = ["summary", "text", "message", "result"];

/** A value as text that is easy to read. */
export function prettyText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
