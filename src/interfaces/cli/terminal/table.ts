import { pad, widthOf } from "./fit.ts";
import type { Colors } from "./output.ts";

export interface TableColumn {
  readonly title: string;
  /** Gives way when the terminal is too narrow for everything. */
  readonly shrinks?: true;
}

const gap = "  ";
const narrowest = 8;

/** Aligned columns without a frame, cut with `…` to fit `width` characters; null means no limit. */
export function renderTable(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  { width, colors }: { width: number | null; colors: Colors },
): string {
  const widths = columnWidths(columns, rows);
  if (width !== null) shrink(widths, columns, width);
  const head = columns.map(({ title }) => colors.dim(title));
  return [head, ...rows]
    .map((row) => widths.map((room, index) => pad(row[index] ?? "", room)).join(gap))
    .map((line) => line.trimEnd())
    .join("\n");
}

/** What a table takes where the columns that shrink have as little room as they get. */
export function leastWidth(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
): number {
  const widths = columnWidths(columns, rows).map((room, index) =>
    columns[index]?.shrinks ? Math.min(room, narrowest) : room,
  );
  return widths.reduce((sum, room) => sum + room, gap.length * (columns.length - 1));
}

function columnWidths(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
): number[] {
  return columns.map(({ title }, index) =>
    Math.max(widthOf(title), ...rows.map((row) => widthOf(row[index] ?? ""))),
  );
}

/** The widest column of those that shrink gives way first. */
function shrink(widths: number[], columns: readonly TableColumn[], width: number): void {
  const total = widths.reduce((sum, room) => sum + room + gap.length, 0);
  for (let excess = total - width; excess > 0; excess--) {
    const rooms = widths.map((room, index) => (columns[index]?.shrinks ? room : 0));
    const widest = Math.max(...rooms);
    if (widest <= narrowest) return;
    widths[rooms.indexOf(widest)] = widest - 1;
  }
}
