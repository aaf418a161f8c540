import { durationText } from "../../contracts/format.ts";
import type { HistoryEntry } from "../../contracts/history.ts";
import { localTime, plainLine } from "../terminal/format.ts";
import type { Colors } from "../terminal/output.ts";
import type { StatusStyle } from "./render-status.ts";
import { renderTable } from "../terminal/table.ts";
import type { TableColumn } from "../terminal/table.ts";

const columns: readonly TableColumn[] = [
  { title: "When" },
  { title: "Agent", shrinks: true },
  { title: "Trigger", shrinks: true },
  { title: "Outcome" },
  { title: "Duration" },
  { title: "Instance or reason", shrinks: true },
];

/** The trigger history as a table, in the order given. What may be replayed has its id below it. */
export function renderHistory(entries: readonly HistoryEntry[], style: StatusStyle): string {
  const rows = entries.map((entry) => [
    localTime(Date.parse(entry.at), style.now),
    entry.agent ?? "",
    triggerOf(entry),
    outcomeOf(entry, style.colors),
    entry.durationMs === null ? "" : durationText(entry.durationMs),
    plainLine([entry.instanceId, entry.reason].filter((part) => part !== null).join(" ")),
  ]);
  const table = renderTable(columns, rows, { width: style.columns, colors: style.colors });
  const [head = "", ...lines] = table.split("\n");
  const below = entries.map((entry, index) => [lines[index] ?? "", ...replayIdOf(entry, style)]);
  return [head, ...below.flat()].join("\n");
}

/** Outcomes after which a replay is unusual: of a schedule, the next tick follows anyway. */
const notReplayed: readonly HistoryEntry["outcome"][] = [null, "succeeded", "skipped", "missed"];

/** A line of its own: an id is half as wide as a terminal. */
function replayIdOf({ id, receiptId, outcome }: HistoryEntry, { colors }: StatusStyle): string[] {
  if (notReplayed.includes(outcome)) return [];
  return [colors.dim(receiptId === null ? `  trigger ${id}` : `  receipt ${receiptId}`)];
}

function triggerOf({ kind, source, event, action, replayOf }: HistoryEntry): string {
  const name = [event, action].filter((part) => part !== null).join(".");
  const replay = replayOf === null ? "" : "(replay)";
  return plainLine([kind, source, name, replay].filter(Boolean).join(" "));
}

function outcomeOf({ outcome, startedAt }: HistoryEntry, colors: Colors): string {
  if (outcome === null) return startedAt === null ? colors.dim("queued") : colors.green("running");
  if (outcome === "succeeded") return outcome;
  return ["interrupted", "skipped", "missed"].includes(outcome)
    ? colors.yellow(outcome)
    : colors.red(outcome);
}
