/** A table as its cells, in markdown. */
interface MarkdownTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** How many lines it takes. */
  readonly lines: number;
}

/** The line below the head: `|---|:-:|`. */
const delimiters = /^[ \t]*(?:\|[ \t]*)?:?-+:?(?:[ \t]*\|[ \t]*:?-+:?)*[ \t]*(?:\|[ \t]*)?$/;

/** The table that begins at a line; null when there is none. Rows have as many cells as the head. */
function tableAt(lines: readonly string[], index: number): MarkdownTable | null {
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

/** A piece of a line. */
export type Inline =
  | { readonly type: "text" | "code" | "strong" | "emphasis"; readonly text: string }
  | { readonly type: "link"; readonly text: string; readonly href: string };

/** A part of a document. Lists are flat: `depth` says how far an item is indented. */
export type Block =
  | { readonly type: "heading"; readonly level: number; readonly content: readonly Inline[] }
  | { readonly type: "paragraph" | "quote"; readonly content: readonly Inline[] }
  | {
      readonly type: "item";
      readonly depth: number;
      readonly marker: string;
      readonly content: readonly Inline[];
    }
  | { readonly type: "code"; readonly text: string }
  | { readonly type: "table"; readonly head: Row; readonly rows: readonly Row[] }
  | { readonly type: "rule" };

/** The cells of a table's row. */
type Row = readonly (readonly Inline[])[];

const fence = /^\s*(`{3,}|~{3,})/;
const heading = /^(#{1,6})\s+(.*)$/;
/** From the first of them on alone: a line of many takes no longer than others. */
const closingMarks = /(?<!#)#+$/;
const rule = /^\s*([-*_])(\s*\1){2,}\s*$/;
const item = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const quote = /^\s*>\s?(.*)$/;
/** Indented code, and what is drawn like a table, keep their own shape. */
const asItIs = /^(\s*\||\s{4,}\S)/;

/**
 * The parts of a markdown text that instructions are made of. What it doesn't know stays text, so nothing that was
 * written is hidden; markup in it stays text as well.
 */
export function parseMarkdown(text: string): readonly Block[] {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const blocks: Block[] = [];
  let index = 0;
  const takeWhile = (test: (line: string) => boolean): string[] => {
    const from = index;
    while (index < lines.length && test(lines[index] ?? "")) index += 1;
    return lines.slice(from, index);
  };
  while (index < lines.length) {
    const line = lines[index] ?? "";
    const single = line.trim() === "" ? [] : singleLine(line);
    const table = tableAt(lines, index);
    if (table !== null) {
      blocks.push(tableBlock(table));
      index += table.lines;
    } else if (single !== null) {
      blocks.push(...single);
      index += 1;
    } else if (fence.test(line)) {
      const mark = fenceOf(line);
      index += 1;
      const inside = takeWhile((each) => !each.trimStart().startsWith(mark));
      blocks.push({ type: "code", text: inside.join("\n") });
      index += 1;
    } else if (item.test(line)) {
      index += 1;
      // What is indented below an item goes on with it.
      const more = takeWhile((each) => /^\s+\S/.test(each) && !startsBlock(each));
      blocks.push(itemOf(line, more));
    } else if (quote.test(line)) {
      const quoted = takeWhile((each) => quote.test(each)).map((each) => each.replace(quote, "$1"));
      blocks.push({ type: "quote", content: parseInline(quoted.join("\n")) });
    } else if (asItIs.test(line)) {
      blocks.push({ type: "code", text: takeWhile((each) => asItIs.test(each)).join("\n") });
    } else {
      const paragraph = takeWhile(
        (each) => each.trim() !== "" && !startsBlock(each) && tableAt(lines, index) === null,
      );
      blocks.push({ type: "paragraph", content: parseInline(paragraph.join("\n")) });
    }
  }
  return blocks;
}

function tableBlock(table: MarkdownTable): Block {
  const [head = [], ...rows] = [table.head, ...table.rows].map((row) =>
    row.map((cell) => parseInline(cell)),
  );
  return { type: "table", head, rows };
}

function fenceOf(line: string): string {
  return fence.exec(line)?.[1] ?? "";
}

function singleLine(line: string): Block[] | null {
  const title = heading.exec(line);
  if (title !== null) {
    const [, marks = "", text = ""] = title;
    return [{ type: "heading", level: marks.length, content: parseInline(titleOf(text)) }];
  }
  return rule.test(line) ? [{ type: "rule" }] : null;
}

function titleOf(text: string): string {
  return text.trimEnd().replace(closingMarks, "").trimEnd();
}

function startsBlock(line: string): boolean {
  return [fence, heading, rule, item, quote].some((pattern) => pattern.test(line));
}

function itemOf(line: string, more: readonly string[]): Block {
  const [, indent = "", marker = "", first = ""] = item.exec(line) ?? [];
  const text = [first, ...more.map((each) => each.trim())].join("\n");
  return {
    type: "item",
    depth: Math.min(Math.floor(indent.replaceAll("\t", "    ").length / 2), 3),
    marker: /\d/.test(marker) ? marker : "•",
    content: parseInline(text),
  };
}

const inline =
  /`([^`\n]+)`|\*\*([^*\s][^*\n]*)\*\*|(?<![\w*])\*([^*\s][^*\n]*)\*|(?<!\w)_([^_\s][^_\n]*)_(?!\w)|\[([^[\]\n]+)\]\((https?:\/\/[^\s)]+)\)/g;

/** Code, emphasis and links to the web within a text; any other address stays text. */
export function parseInline(text: string): readonly Inline[] {
  const parts: Inline[] = [];
  let end = 0;
  for (const match of text.matchAll(inline)) {
    if (match.index > end) parts.push({ type: "text", text: text.slice(end, match.index) });
    parts.push(inlineOf(match));
    end = match.index + match[0].length;
  }
  if (end < text.length) parts.push({ type: "text", text: text.slice(end) });
  return parts;
}

function inlineOf([whole, code, strong, star, line, label, href]: RegExpExecArray): Inline {
  if (code !== undefined) return { type: "code", text: code };
  if (strong !== undefined) return { type: "strong", text: strong };
  const emphasis = star ?? line;
  if (emphasis !== undefined) return { type: "emphasis", text: emphasis };
  if (label !== undefined && href !== undefined) return { type: "link", text: label, href };
  return { type: "text", text: whole };
}
