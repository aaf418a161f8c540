import { stripVTControlCharacters } from "node:util";
import CliTable from "cli-table3";
import type { Colors } from "./output.ts";

export interface TableColumn {
  readonly title: string;
  /** Gives way when the terminal is too narrow for everything. */
  readonly shrinks?: true;
}

const gap = 2;
const narrowest = 8;

/** Aligned columns without a frame, cut with `…` to fit `width` characters; null means no limit. */
export function renderTable(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  { width, colors }: { width: number | null; colors: Colors },
): string {
  const table = new CliTable({
    head: columns.map(({ title }) => colors.dim(title)),
    chars: noFrame,
    style: { head: [], border: [], "padding-left": 0, "padding-right": gap },
    colWidths: fittedWidths(columns, rows, width),
  });
  for (const row of rows) table.push([...row]);
  return table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}

/** Widths with padding: the widest of those that shrink gives way first. Null leaves a column as wide as its content. */
function fittedWidths(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  width: number | null,
): (number | null)[] {
  if (width === null) return columns.map(() => null);
  const widths = columns.map(({ title }, index) => {
    const cells = [title, ...rows.map((row) => row[index])];
    return gap + Math.max(...cells.map(lengthOf));
  });
  const shrinking = columns.flatMap(({ shrinks }, index) => (shrinks ? [index] : []));
  for (let excess = sum(widths) - width; excess > 0; excess--) {
    const widest = shrinking.reduce((a, b) => (at(widths, b) > at(widths, a) ? b : a));
    if (at(widths, widest) <= narrowest + gap) break;
    widths[widest] = at(widths, widest) - 1;
  }
  return columns.map(({ shrinks }, index) => (shrinks ? at(widths, index) : null));
}

function at(widths: readonly number[], index: number): number {
  return widths[index] ?? 0;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function lengthOf(cell: string | undefined): number {
  return stripVTControlCharacters(cell ?? "").length;
}

const noFrame = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "",
};
