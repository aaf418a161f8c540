import stringWidth from "string-width";

/** Colour codes, the only control sequences in a line. */
const colorCode = /\u001b\[[0-9;]*m/y;
const noMoreColor = "\u001b[0m";
/** Created for the first text that is not plain: that takes 10 ms. `string-width` does the same in the build. */
let graphemes: Intl.Segmenter | undefined;

/** Columns that a line takes on the terminal; colours take none. */
export function widthOf(line: string): number {
  return /^[ -~]*$/.test(line) ? line.length : stringWidth(line);
}

/** The line within this many columns, cut with `…`. */
export function cut(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line;
  if (columns < 1) return "";
  const { at, colors } = placeOf(line, columns - 1);
  return `${line.slice(0, at)}${colors === "" ? "" : noMoreColor}…`;
}

/** The line in exactly this many columns. */
export function pad(line: string, columns: number): string {
  const fitted = cut(line, columns);
  return fitted + " ".repeat(columns - widthOf(fitted));
}

/** The line in as many lines as needed, broken between words if possible. Colours continue. */
export function wrap(line: string, columns: number): string[] {
  const lines: string[] = [];
  let rest = line;
  while (columns > 0 && widthOf(rest) > columns) {
    const { at, space, colors } = placeOf(rest, columns);
    const end = space ?? at;
    // A grapheme wider than the terminal: too wide is better than an endless loop.
    if (end === 0) break;
    lines.push(rest.slice(0, end) + (colors === "" ? "" : noMoreColor));
    rest = colors + rest.slice(space === null ? at : space + 1);
  }
  return [...lines, rest];
}

/** The index in the line where this many columns are full, the last space before it, and the active colours there. */
function placeOf(
  line: string,
  columns: number,
): { at: number; space: number | null; colors: string } {
  let [at, used, colors] = [0, 0, ""];
  let space: number | null = null;
  while (at < line.length) {
    const code = colorCodeAt(line, at);
    if (code !== null) {
      colors += code;
      at += code.length;
      continue;
    }
    const next = graphemeAt(line, at);
    const width = widthOf(next);
    if (next === " " && used > 0) space = at;
    if (used + width > columns) break;
    used += width;
    at += next.length;
  }
  return { at, space, colors };
}

function colorCodeAt(line: string, at: number): string | null {
  colorCode.lastIndex = at;
  return colorCode.exec(line)?.[0] ?? null;
}

function graphemeAt(line: string, at: number): string {
  // Most text is plain, and the next character decides whether it joins a plain one.
  if (/^[ -~][ -~\u001b]?$/.test(line.slice(at, at + 2))) return line.charAt(at);
  graphemes ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  for (const { segment } of graphemes.segment(line.slice(at, at + 64))) return segment;
  return "";
}
