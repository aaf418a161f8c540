import { parseTOML } from "toml-eslint-parser";
import type { AST } from "toml-eslint-parser";

/** Keys and array indexes from the root of a TOML document. */
export type TomlPath = readonly (string | number)[];

/** Counts from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The position of a key path in the text, or of the nearest thing around it; null without any. */
export type Locate = (path: TomlPath, what: "key" | "value") => Position | null;

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
  return (path, what) => {
    places ??= placesIn(text);
    for (let length = path.length; length > 0; length--) {
      const place = places.get(JSON.stringify(path.slice(0, length)));
      if (place === undefined) continue;
      const { line, column } = place[what].loc.start;
      return { line, column: column + 1 };
    }
    return null;
  };
}

function placesIn(text: string): Places {
  const places: Places = new Map();
  const [top] = parseTOML(text, { tomlVersion: "1.1" }).body;
  for (const node of top.body) {
    if (node.type === "TOMLKeyValue") addPair(places, [], node);
    else addTable(places, node);
  }
  return places;
}

/** The keys of a header, and its pairs; an array's element is where its header is. */
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
