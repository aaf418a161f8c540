/** A place in a text, both counted from 1. */
interface Place {
  readonly line: number;
  readonly column: number;
}

/**
 * The TOML parser's reason in words for a person. Its own ones name what it met, such as a control character where a
 * string goes on over the end of its line, and not what is missing.
 */
export function tomlWords(reason: string, text: string, place: Place): string {
  const rest = restOfLine(text, place);
  if (reason.startsWith("control characters") && rest === "")
    return "the string is not closed on its line";
  if (reason === "unfinished string") return "the string is never closed";
  if (reason === "illegal character in key" && rest === "") return incompleteLine(text, place);
  if (reason !== "expected comma or end of structure") return reason;
  return missingComma(text, place) ?? reason;
}

function restOfLine(text: string, { line, column }: Place): string {
  return (text.split("\n")[line - 1] ?? "").slice(column - 1).trim();
}

function incompleteLine(text: string, { line }: Place): string {
  const isHead = (text.split("\n")[line - 1] ?? "").trimStart().startsWith("[");
  return isHead ? "the table's name is not closed by ]" : "expected = and a value behind the key";
}

function missingComma(text: string, place: Place): string | null {
  const before = textBefore(text, place);
  const opened = lastOpened(before);
  if (opened === null) return null;
  const end = before[opened] === "[" ? "]" : "}";
  const line = before.slice(0, opened).split("\n").length;
  const where = line === place.line ? "" : ` for the ${before[opened] ?? ""} of line ${line}`;
  return `expected a comma, or ${end}${where}`;
}

function textBefore(text: string, { line, column }: Place): string {
  const lines = text.split("\n").slice(0, line);
  return [...lines.slice(0, -1), (lines.at(-1) ?? "").slice(0, column - 1)].join("\n");
}

/** Comments and strings, in which brackets are text; then brackets. */
const tokens = /#[^\n]*|"""(?:[^\\]|\\[^])*?"""|'''[^]*?'''|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[[\]{}]/g;

/** The index of the innermost bracket that is open at the end of the text. */
function lastOpened(text: string): number | null {
  const open: number[] = [];
  for (const { 0: token, index } of text.matchAll(tokens)) {
    if (token === "[" || token === "{") open.push(index);
    if (token === "]" || token === "}") open.pop();
  }
  return open.at(-1) ?? null;
}
