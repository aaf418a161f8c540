/** A table as its cells, in markdown. */
export interface MarkdownTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** How many lines it takes. */
  readonly lines: number;
}

/** The line below the head: `|---|:-:|`. */
const delimiters = /^[ \t]*(?:\|[ \t]*)?:?-+:?(?:[ \t]*\|[ \t]*:?-+:?)*[ \t]*(?:\|[ \t]*)?$/;

/** The table that begins at a line; null when there is none. Rows have as many cells as the head. */
export function tableAt(lines: readonly string[], index: number): MarkdownTable | null {
  const [first = "", second = ""] = lines.slice(index, index + 2);
  if (!first.includes("|") || !second.includes("|") || !delimiters.test(second)) return null;
  const head = cellsOf(first);
  if (cellsOf(second).length !== head.length) return null;
  const rows: (readonly string[])[] = [];
  for (let at = index + 2; (lines[at] ?? "").includes("|"); at++) {
    const cells = cellsOf(lines[at] ?? "");
    rows.push(head.map((_, column) => cells[column] ?? ""));
  }
  return { head, rows, lines: rows.length + 2 };
}

function cellsOf(line: string): string[] {
  const text = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return text.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}
