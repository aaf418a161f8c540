import { durationText } from "../../../../streams/duration-text.ts";
import type { TraceView } from "../../../runtime/runs/trace-view.ts";
import { traceMs, traceRows, type TraceRow } from "../../views/trace-rows.ts";
import { plainLine } from "../terminal/format.ts";
import type { Colors } from "../terminal/output.ts";
import { renderTable, titled, type TableColumn } from "../terminal/table.ts";
import type { StatusStyle } from "./render-status.ts";

/** The bars' share of the width, and the width of output off a terminal. */
const barShare = 0.3;
const usualColumns = 100;

/** The steps of a run as a waterfall, a line each. */
export function renderTrace(
  trace: TraceView,
  style: Pick<StatusStyle, "colors" | "columns">,
): string {
  const { colors, columns } = style;
  const rows = traceRows(trace);
  const room = Math.floor((columns ?? usualColumns) * barShare);
  const right = (name: "time" | "tokens" | "cost") => {
    const width = Math.max(...rows.map((row) => row[name].length));
    return (row: TraceRow) => row[name].padStart(width);
  };
  const cells = [
    (row: TraceRow) => nameOf(row, colors),
    (row: TraceRow) => barOf(row, room, colors),
    ...(["time", "tokens", "cost"] as const).map(right),
  ];
  const head: readonly TableColumn[] = [
    { title: "Step", shrinks: true },
    { title: `0 – ${durationText(traceMs(trace))}` },
    ...titled("Time", "Tokens", "Cost"),
  ];
  return renderTable(
    head,
    rows.map((row) => cells.map((cell) => cell(row))),
    style,
  );
}

function nameOf({ name, isInner, failure }: TraceRow, { red }: Colors): string {
  const text = `${isInner ? "  " : ""}${plainLine(name)}`;
  return failure === null ? text : red(`${text}: ${plainLine(failure)}`);
}

const waits: readonly TraceRow["kind"][] = ["question", "queued"];

/** A bar with room before it; each step that took no time is still seen. */
function barOf({ bar, kind, failure }: TraceRow, room: number, colors: Colors): string {
  if (bar === null) return "";
  const from = Math.min(room - 1, Math.floor(bar.from * room));
  const length = Math.min(room - from, Math.max(1, Math.round(bar.share * room)));
  const color = failure !== null ? colors.red : kind === "model" ? colors.blue : colors.cyan;
  return " ".repeat(from) + color((waits.includes(kind) ? "░" : "█").repeat(length));
}
