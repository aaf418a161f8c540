import { cut, widthOf } from "../terminal/fit.ts";
import { localTime } from "../terminal/format.ts";
import type { HistoryRow } from "./history-rows.ts";
import type { StatusStyle } from "./render-status.ts";
import { renderTable } from "../terminal/table.ts";
import type { TableColumn } from "../terminal/table.ts";

interface HistoryColumn extends TableColumn {
  readonly text: (row: HistoryRow, style: StatusStyle) => string;
}

const when: HistoryColumn = { title: "When", text: ({ at }, { now }) => localTime(at, now) };
const agent: HistoryColumn = { title: "Agent", text: (row) => row.agent };
const trigger: HistoryColumn = { title: "Trigger", shrinks: true, text: (row) => row.trigger };
const outcome: HistoryColumn = { title: "Outcome", text: (row) => row.outcome };
const duration: HistoryColumn = { title: "Duration", text: (row) => row.duration };
const instance: HistoryColumn = { title: "Instance", text: (row) => row.instance };
const replay: HistoryColumn = { title: "Replay", text: (row) => row.replay?.id ?? "" };
const reason: HistoryColumn = { title: "Reason", shrinks: true, text: (row) => row.reason };

const piped = [when, agent, trigger, outcome, duration, instance, replay, reason];
const wide = [when, agent, trigger, outcome, duration, instance, reason];
const narrow = [when, agent, trigger, outcome];

/**
 * The trigger history as a table, in the order given. Off a terminal an entry is one line. On one no id is cut: what may
 * be replayed has its id below it, and so has its instance what has no room beside the rest.
 */
export function renderHistory(rows: readonly HistoryRow[], style: StatusStyle): string {
  if (style.columns === null) return tableOf(rows, piped, style).join("\n");
  const isWide = leastWidth(rows, wide, style) <= style.columns;
  const [head = "", ...lines] = tableOf(rows, isWide ? wide : narrow, style);
  const all = rows.flatMap((row, index) => [
    lines[index] ?? "",
    ...(isWide ? [] : runLines(row, style)),
    ...replayLines(row, style),
  ]);
  return [head, ...all].join("\n");
}

function tableOf(
  rows: readonly HistoryRow[],
  columns: readonly HistoryColumn[],
  style: StatusStyle,
): string[] {
  const cells = rows.map((row) => columns.map(({ text }) => text(row, style)));
  const { columns: width, colors } = style;
  return renderTable(columns, cells, { width, colors }).split("\n");
}

/** Spaces between two columns. */
const gap = 2;
const narrowestText = 8;
/** A reason that is cut to less explains nothing. */
const narrowestReason = 28;

/** What the columns take where those that shrink have as little room as a table gives them. */
function leastWidth(
  rows: readonly HistoryRow[],
  columns: readonly HistoryColumn[],
  style: StatusStyle,
): number {
  const widths = columns.map((column) => {
    const { title, shrinks, text } = column;
    const widest = Math.max(widthOf(title), ...rows.map((row) => widthOf(text(row, style))));
    return shrinks ? Math.min(widest, column === reason ? narrowestReason : narrowestText) : widest;
  });
  return widths.reduce((sum, width) => sum + width, gap * (columns.length - 1));
}

/** What the narrow table leaves out: only the reason is cut. */
function runLines(row: HistoryRow, { colors, columns }: StatusStyle): string[] {
  const whole = [row.instance, row.duration].filter((part) => part !== "");
  const room = (columns ?? 0) - whole.reduce((sum, part) => sum + widthOf(part) + gap, gap);
  const parts = [...whole, cut(row.reason, room)].filter((part) => part !== "");
  return parts.length === 0 ? [] : [colors.dim(`  ${parts.join("  ")}`)];
}

/** A line of its own: an id is half as wide as a terminal. */
function replayLines({ replay: replayed }: HistoryRow, { colors }: StatusStyle): string[] {
  return replayed === null ? [] : [colors.dim(`  ${replayed.kind} ${replayed.id}`)];
}
