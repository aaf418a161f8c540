/** The first rows of a CSV text (RFC 4180), each with at most `cells` cells. */
export function csvRows(
  text: string,
  separator: string,
  { rows: mostRows, cells: mostCells }: { readonly rows: number; readonly cells: number },
): readonly (readonly string[])[] {
  const rows: string[][] = [];
  let row: string[] = [];
  const addCell = (cell: string): void => {
    if (row.length < mostCells) row.push(cell);
  };
  const addRow = (): void => {
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  };
  let at = 0;
  while (at < text.length && rows.length < mostRows) {
    const { cell, end } = text[at] === '"' ? quotedCell(text, at) : plainCell(text, at, separator);
    addCell(cell);
    const isRowOver = text[end] !== separator;
    if (isRowOver) addRow();
    at = end + (text.startsWith("\r\n", end) ? 2 : 1);
    if (!isRowOver && at === text.length) addCell("");
  }
  if (row.length > 0 && rows.length < mostRows) addRow();
  return rows;
}

interface Cell {
  readonly cell: string;
  /** Where the separator, the end of the line or of the text is. */
  readonly end: number;
}

function plainCell(text: string, at: number, separator: string): Cell {
  let end = at;
  while (end < text.length && text[end] !== separator && text[end] !== "\n" && text[end] !== "\r")
    end += 1;
  return { cell: text.slice(at, end), end };
}

/** Text between the closing quote and the separator is not part of the form, and is dropped. */
function quotedCell(text: string, at: number): Cell {
  const parts: string[] = [];
  let from = at + 1;
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote === -1) return { cell: parts.join("") + text.slice(from), end: text.length };
    parts.push(text.slice(from, quote));
    if (text[quote + 1] !== '"') {
      const rest = /[,;\t\r\n]|$/g;
      rest.lastIndex = quote + 1;
      return { cell: parts.join(""), end: rest.exec(text)?.index ?? text.length };
    }
    parts.push('"');
    from = quote + 2;
  }
}
