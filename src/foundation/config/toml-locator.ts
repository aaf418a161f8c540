import { parseTOML, type AST } from "toml-eslint-parser";

/** Keys and array indexes from the root of a TOML document. */
export type TomlPath = readonly (string | number)[];

/** Counts from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The position of a key path in the text, or of the nearest thing around it; null without any. */
export type Locate = (path: TomlPath, part: "key" | "value") => Position | null;

interface Place {
  readonly key: AST.TOMLNode;
  readonly value: AST.TOMLNode;
}

type Places = Map<string, Place>;

/**
 * Locates key paths in TOML text that smol-toml accepted; that parser keeps no positions. The text is parsed on the
 * first question, because most configs have no problem to locate.
 */
export function tomlLocator(text: string): Locate {
  let places: Places | undefined;
  return (path, part) => {
    places ??= placesIn(text);
    for (let length = path.length; length > 0; length--) {
      const place = places.get(JSON.stringify(path.slice(0, length)));
      if (place === undefined) continue;
      const { line, column } = place[part].loc.start;
      return { line, column: column + 1 };
    }
    return null;
  };
}

function placesIn(text: string): Places {
  const places: Places = new Map();
  // smol-toml skips a byte order mark that the decoder left.
  const [top] = parseTOML(text.replace(/^\uFEFF/, ""), { tomlVersion: "1.1" }).body;
  for (const node of top.body) {
    if (node.type === "TOMLKeyValue") addPair(places, [], node);
    else addTable(places, node);
  }
  return places;
}

/** The keys of a header, and its pairs; the place of an array's element is its header. */
function addTable(places: Places, table: AST.TOMLTable): void {
  const { keys } = table.key;
  let index = 0;
  table.resolvedKey.forEach((part, position) => {
    const isIndex = typeof part === "number";
    const key = keys[isIndex ? index - 1 : index++] ?? table;
    add(places, table.resolvedKey.slice(0, position + 1), { key, value: table });
  });
  for (const pair of table.body) addPair(places, table.resolvedKey, pair);
}

/** `a.b = value`, at the top or in an inline table. */
function addPair(places: Places, path: TomlPath, { key, value }: AST.TOMLKeyValue): void {
  const inner = [...path];
  for (const part of key.keys) {
    inner.push(part.type === "TOMLBare" ? part.name : part.value);
    add(places, inner, { key: part, value });
  }
  addValue(places, inner, value);
}

function addValue(places: Places, path: TomlPath, value: AST.TOMLContentNode): void {
  if (value.type === "TOMLInlineTable") {
    for (const pair of value.body) addPair(places, path, pair);
  } else if (value.type === "TOMLArray") {
    value.elements.forEach((element, index) => {
      add(places, [...path, index], { key: element, value: element });
      addValue(places, [...path, index], element);
    });
  }
}

/** The first mention of a path is its place. */
function add(places: Places, path: TomlPath, place: Place): void {
  const key = JSON.stringify(path);
  if (!places.has(key)) places.set(key, place);
}

/**
 * The TOML parser's reason in plain words. The parser names the character that it met, such as a control character if a
 * string continues over the line's end, not the missing one.
 */
export function tomlWords(reason: string, text: string, place: Position): string {
  const rest = restOfLine(text, place);
  if (/^[“”‘’„]/.test(rest))
    return `put strings between straight quotes: " or ', not ${rest[0] ?? ""}`;
  if (reason.startsWith("control characters") && rest === "")
    return "the string is not closed on its line";
  if (reason === "unfinished string") return "the string is never closed";
  if (reason.startsWith("trying to redefine")) return definedTwice(rest);
  if (reason === "invalid value") return missingValue(rest);
  if (reason === "illegal character in key" && rest === "") return incompleteLine(text, place);
  if (reason !== "expected comma or end of structure") return reason;
  return missingComma(text, place) ?? reason;
}

function definedTwice(rest: string): string {
  return `${/^(?:"[^"]*"|'[^']*'|[^\]\s="'])+/.exec(rest)?.[0] ?? "this key"} is defined twice`;
}

function missingValue(rest: string): string {
  return rest === "" || rest.startsWith("#")
    ? "expected a value"
    : "expected a value; put text in quotes";
}

function restOfLine(text: string, { line, column }: Position): string {
  return (text.split("\n")[line - 1] ?? "").slice(column - 1).trim();
}

function incompleteLine(text: string, { line }: Position): string {
  const isHead = (text.split("\n")[line - 1] ?? "").trimStart().startsWith("[");
  return isHead ? "the table's name is not closed by ]" : "expected = and a value behind the key";
}

function missingComma(text: string, place: Position): string | null {
  const before = textBefore(text, place);
  const opened = lastOpened(before);
  if (opened === null) return null;
  const end = before[opened] === "[" ? "]" : "}";
  const line = before.slice(0, opened).split("\n").length;
  const where = line === place.line ? "" : ` for the ${before[opened] ?? ""} of line ${line}`;
  return `expected a comma, or ${end}${where}`;
}

function textBefore(text: string, { line, column }: Position): string {
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
