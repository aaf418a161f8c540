import type { HistoryEntry } from "../contracts/history.ts";
import { duration, localTime, plainLine } from "./format.ts";
import type { Colors } from "./output.ts";
import type { StatusStyle } from "./render-status.ts";
import { renderTable } from "./table.ts";
import type { TableColumn } from "./table.ts";

const columns: readonly TableColumn[] = [
  { title: "When" },
  { title: "Agent", shrinks: true },
  { title: "Trigger", shrinks: true },
  { title: "Outcome" },
  { title: "Duration" },
  { title: "Instance or reason", shrinks: true },
];

/** The trigger history as a table, in the order given. What may be replayed has its receipt below it. */
export function renderHistory(entries: readonly HistoryEntry[], style: StatusStyle): string {
  const rows = entries.map((entry) => [
    localTime(Date.parse(entry.at), style.now),
    entry.agent ?? "",
    triggerOf(entry),
    outcomeOf(entry, style.colors),
    entry.durationMs === null ? "" : duration(entry.durationMs),
    plainLine([entry.instanceId, entry.reason].filter((part) => part !== null).join(" ")),
  ]);
  const table = renderTable(columns, rows, { width: style.columns, colors: style.colors });
  const [head = "", ...lines] = table.split("\n");
  const below = entries.map((entry, index) => [lines[index] ?? "", ...receiptOf(entry, style)]);
  return [head, ...below.flat()].join("\n");
}

/** A line of its own: an id is half as wide as a terminal. Nobody replays what succeeded, or still may. */
function receiptOf({ receiptId, outcome }: HistoryEntry, { colors }: StatusStyle): string[] {
  if (receiptId === null || outcome === null || outcome === "succeeded") return [];
  return [colors.dim(`  receipt ${receiptId}`)];
}

function triggerOf({ kind, source, event, action }: HistoryEntry): string {
  const name = [event, action].filter((part) => part !== null).join(".");
  return plainLine([kind, source, name].filter(Boolean).join(" "));
}

function outcomeOf({ outcome, startedAt }: HistoryEntry, colors: Colors): string {
  if (outcome === null) return startedAt === null ? colors.dim("queued") : colors.green("running");
  if (outcome === "succeeded") return outcome;
  return ["skipped", "missed"].includes(outcome) ? colors.yellow(outcome) : colors.red(outcome);
}
