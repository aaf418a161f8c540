import { pad, widthOf } from "./fit.ts";
import type { Colors } from "./output.ts";

export interface TableColumn {
  readonly title: string;
  /** Shrinks if the terminal is too narrow for everything. */
  readonly shrinks?: true;
  /** Minimum width in characters, even with shorter texts. */
  readonly least?: number;
}

const gap = "  ";
const narrowest = 8;
/** Off a terminal, long texts of a column are not padded to more. */
const paddedTo = 60;

/** Columns by their titles; one that ends in `…` shrinks. */
export function titled(...titles: readonly string[]): TableColumn[] {
  return titles.map((title) =>
    title.endsWith("…") ? { title: title.slice(0, -1), shrinks: true } : { title },
  );
}

/**
 * Aligned columns without a frame, cut with `…` to fit the terminal; null columns mean no limit. `below` has the lines
 * that follow each row.
 */
export function renderTable(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  { columns: width, colors }: { readonly columns: number | null; readonly colors: Colors },
  below: readonly (readonly string[])[] = [],
): string {
  const widths = columnWidths(columns, rows);
  if (width === null) narrow(widths, columns);
  else shrink(widths, columns, width);
  const fit = width === null ? filled : pad;
  const head = columns.map(({ title }) => colors.dim(title));
  return [head, ...rows]
    .map((row) => widths.map((room, index) => fit(row[index] ?? "", room)).join(gap))
    .flatMap((line, index) => [line.trimEnd(), ...(below[index - 1] ?? [])])
    .join("\n");
}

/** Width of the table with all shrinkable columns at their minimum, which may depend on their titles. */
export function leastWidth(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  others: Readonly<Record<string, number>> = {},
): number {
  const widths = columnWidths(columns, rows).map((room, index) => {
    const { title = "", shrinks } = columns[index] ?? {};
    return shrinks ? Math.min(room, others[title] ?? narrowest) : room;
  });
  return widths.reduce((sum, room) => sum + room, gap.length * (columns.length - 1));
}

function columnWidths(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
): number[] {
  return columns.map(({ title, least = 0 }, index) =>
    Math.max(least, widthOf(title), ...rows.map((row) => widthOf(row[index] ?? ""))),
  );
}

/** Without a limit a text stays whole, but a long one does not push the columns behind it away in all rows. */
function narrow(widths: number[], columns: readonly TableColumn[]): void {
  for (const [index, room] of widths.entries())
    if (columns[index]?.shrinks) widths[index] = Math.min(room, paddedTo);
}

function filled(text: string, room: number): string {
  return text + " ".repeat(Math.max(0, room - widthOf(text)));
}

/** The widest shrinkable column shrinks first. */
function shrink(widths: number[], columns: readonly TableColumn[], width: number): void {
  const total = widths.reduce((sum, room) => sum + room + gap.length, 0);
  for (let excess = total - width; excess > 0; excess--) {
    const rooms = widths.map((room, index) => (columns[index]?.shrinks ? room : 0));
    const widest = Math.max(...rooms);
    if (widest <= narrowest) return;
    widths[rooms.indexOf(widest)] = widest - 1;
  }
}
