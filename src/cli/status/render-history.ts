import { durationText } from "../../contracts/format.ts";
import type { HistoryEntry } from "../../contracts/history.ts";
import { stateWord, triggerNames } from "../../contracts/trigger-names.ts";
import { cut, widthOf } from "../terminal/fit.ts";
import { localTime, plainLine } from "../terminal/format.ts";
import type { Colors } from "../terminal/output.ts";
import type { StatusStyle } from "./render-status.ts";
import { leastWidth, renderTable } from "../terminal/table.ts";
import type { TableColumn } from "../terminal/table.ts";

interface HistoryColumn extends TableColumn {
  readonly text: (entry: HistoryEntry, style: StatusStyle) => string;
}

const when: HistoryColumn = {
  title: "When",
  text: ({ at }, { now }) => localTime(Date.parse(at), now),
};
const agent: HistoryColumn = { title: "Agent", text: (entry) => entry.agent ?? "" };
const trigger: HistoryColumn = { title: "Trigger", shrinks: true, text: triggerOf };
const outcome: HistoryColumn = {
  title: "Outcome",
  text: (entry, { colors }) => outcomeOf(entry, colors),
};
const duration: HistoryColumn = { title: "Duration", text: durationOf };
const instance: HistoryColumn = { title: "Instance", text: ({ instanceId }) => instanceId ?? "" };
const replay: HistoryColumn = { title: "Replay", text: (entry) => replayIdOf(entry)?.id ?? "" };
const reason: HistoryColumn = { title: "Reason", shrinks: true, text: reasonOf };

const piped = [when, agent, trigger, outcome, duration, instance, replay, reason];
const wide = [when, agent, trigger, outcome, duration, instance, reason];
const narrow = [when, agent, trigger, outcome];

/**
 * The trigger history as a table, in the order given. Off a terminal an entry is one line. On one no id is cut: what may
 * be replayed has its id below it, and so has its instance what has no room beside the rest.
 */
export function renderHistory(entries: readonly HistoryEntry[], style: StatusStyle): string {
  if (style.columns === null) return tableOf(entries, piped, style).join("\n");
  const isWide = leastWidth(wide, cellsOf(entries, wide, style)) <= style.columns;
  const [head = "", ...rows] = tableOf(entries, isWide ? wide : narrow, style);
  const lines = entries.flatMap((entry, index) => [
    rows[index] ?? "",
    ...(isWide ? [] : runLines(entry, style)),
    ...replayLines(entry, style),
  ]);
  return [head, ...lines].join("\n");
}

function tableOf(
  entries: readonly HistoryEntry[],
  columns: readonly HistoryColumn[],
  style: StatusStyle,
): string[] {
  const { columns: width, colors } = style;
  return renderTable(columns, cellsOf(entries, columns, style), { width, colors }).split("\n");
}

function cellsOf(
  entries: readonly HistoryEntry[],
  columns: readonly HistoryColumn[],
  style: StatusStyle,
): string[][] {
  return entries.map((entry) => columns.map(({ text }) => text(entry, style)));
}

/** Spaces between the parts of a line. */
const gap = 2;

/** What the narrow table leaves out: only the reason is cut. */
function runLines(entry: HistoryEntry, { colors, columns }: StatusStyle): string[] {
  const whole = [entry.instanceId ?? "", durationOf(entry)].filter((part) => part !== "");
  const room = (columns ?? 0) - whole.reduce((sum, part) => sum + widthOf(part) + gap, gap);
  const parts = [...whole, cut(reasonOf(entry), room)].filter((part) => part !== "");
  return parts.length === 0 ? [] : [colors.dim(`  ${parts.join("  ")}`)];
}

function durationOf({ durationMs }: HistoryEntry): string {
  return durationMs === null ? "" : durationText(durationMs);
}

function reasonOf(entry: HistoryEntry): string {
  return plainLine(entry.reason ?? "");
}

/** Outcomes after which a replay is unusual: of a schedule, the next tick follows anyway. */
const notReplayed: readonly HistoryEntry["outcome"][] = [null, "succeeded", "skipped", "missed"];

/** What `al replay` takes for an entry; null where a replay is unusual. */
function replayIdOf({ id, receiptId, outcome }: HistoryEntry): {
  readonly kind: "receipt" | "trigger";
  readonly id: string;
} | null {
  if (notReplayed.includes(outcome)) return null;
  return receiptId === null ? { kind: "trigger", id } : { kind: "receipt", id: receiptId };
}

/** A line of its own: an id is half as wide as a terminal. */
function replayLines(entry: HistoryEntry, { colors }: StatusStyle): string[] {
  const replayed = replayIdOf(entry);
  return replayed === null ? [] : [colors.dim(`  ${replayed.kind} ${replayed.id}`)];
}

function triggerOf({ kind, source, event, action, replayOf }: HistoryEntry): string {
  const name = [event, action].filter((part) => part !== null).join(".");
  const replay = replayOf === null ? "" : "(replay)";
  return plainLine([triggerNames[kind], source, name, replay].filter(Boolean).join(" "));
}

const outcomeColors: Readonly<Partial<Record<string, "dim" | "green" | "yellow">>> = {
  queued: "dim",
  running: "green",
  interrupted: "yellow",
  skipped: "yellow",
  missed: "yellow",
  unmatched: "yellow",
};

function outcomeOf(entry: HistoryEntry, colors: Colors): string {
  const word = stateWord(entry);
  return word === "succeeded" ? word : colors[outcomeColors[word] ?? "red"](word);
}
