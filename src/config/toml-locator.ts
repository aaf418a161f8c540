import { parse } from "smol-toml";

/** Keys and array indexes from the root of a TOML document. */
export type TomlPath = readonly (string | number)[];

/** Counts from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Where a key path stands in the text, or the nearest thing around it that does; null without any. */
export type Locate = (path: TomlPath, what: "key" | "value") => Position | null;

interface Place {
  readonly key: number;
  readonly value: number;
}

interface Scan {
  readonly text: string;
  at: number;
  readonly places: Map<string, Place>;
  /** Index of the last element of each array of tables. */
  readonly lastIndex: Map<string, number>;
}

interface KeyPart {
  readonly name: string;
  readonly at: number;
}

/**
 * Locates key paths in TOML text that smol-toml accepted; the parser itself keeps no positions. The text is scanned
 * on the first question, because most configs have no problem to place.
 */
export function tomlLocator(text: string): Locate {
  let places: ReadonlyMap<string, Place> | undefined;
  return (path, what) => {
    places ??= scanDocument(text);
    for (let length = path.length; length > 0; length--) {
      const place = places.get(JSON.stringify(path.slice(0, length)));
      if (place !== undefined) return positionAt(text, place[what]);
    }
    return null;
  };
}

function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset);
  return {
    line: before.split("\n").length,
    column: offset - before.lastIndexOf("\n"),
  };
}

function scanDocument(text: string): ReadonlyMap<string, Place> {
  const scan: Scan = { text, at: 0, places: new Map(), lastIndex: new Map() };
  let table: TomlPath = [];
  for (skipBlank(scan); scan.at < text.length; skipBlank(scan)) {
    const start = scan.at;
    if (text[start] === "[") table = scanHeader(scan);
    else scanPair(scan, table);
    // Text that the parser accepted always moves on; a loop must end for any other too.
    if (scan.at === start) scan.at++;
  }
  return scan.places;
}

function scanHeader(scan: Scan): TomlPath {
  const start = scan.at;
  const isArray = scan.text.startsWith("[[", start);
  scan.at += isArray ? 2 : 1;
  const parts = scanKey(scan);
  scan.at += isArray ? 2 : 1;
  const path: (string | number)[] = [];
  parts.forEach(({ name, at }, index) => {
    path.push(name);
    note(scan, path, { key: at, value: start });
    const table = JSON.stringify(path);
    const last = scan.lastIndex.get(table);
    if (isArray && index === parts.length - 1) {
      scan.lastIndex.set(table, (last ?? -1) + 1);
      path.push((last ?? -1) + 1);
      note(scan, path, { key: at, value: start });
    } else if (last !== undefined) {
      path.push(last);
    }
  });
  return path;
}

/** `a.b = value`, at the top or in an inline table. */
function scanPair(scan: Scan, table: TomlPath): void {
  const parts = scanKey(scan);
  scan.at++;
  skipBlank(scan);
  const value = scan.at;
  const path = [...table];
  for (const { name, at } of parts) {
    path.push(name);
    note(scan, path, { key: at, value });
  }
  scanValue(scan, path);
}

function scanKey(scan: Scan): KeyPart[] {
  const parts: KeyPart[] = [];
  do {
    if (parts.length > 0) scan.at++;
    skip(scan, /[ \t]*/y);
    const at = scan.at;
    if (/["']/.test(scan.text[at] ?? "")) skipString(scan);
    else skip(scan, /[A-Za-z0-9_-]*/y);
    parts.push({ name: keyName(scan.text.slice(at, scan.at)), at });
    skip(scan, /[ \t]*/y);
  } while (scan.text[scan.at] === ".");
  return parts;
}

function keyName(raw: string): string {
  if (raw.startsWith("'")) return raw.slice(1, -1);
  if (!raw.startsWith('"')) return raw;
  return raw.includes("\\") ? (Object.keys(parse(`${raw} = 0`))[0] ?? "") : raw.slice(1, -1);
}

function scanValue(scan: Scan, path: TomlPath): void {
  const first = scan.text[scan.at];
  if (first === '"' || first === "'") skipString(scan);
  else if (first === "[") scanItems(scan, "]", (index) => scanItem(scan, [...path, index]));
  else if (first === "{") scanItems(scan, "}", () => scanPair(scan, path));
  else skip(scan, /[^,\]}#\r\n]*/y);
}

function scanItem(scan: Scan, path: TomlPath): void {
  note(scan, path, { key: scan.at, value: scan.at });
  scanValue(scan, path);
}

function scanItems(scan: Scan, end: string, item: (index: number) => void): void {
  scan.at++;
  for (let index = 0; scan.at < scan.text.length; index++) {
    skipBlank(scan);
    if (scan.text[scan.at] === end) break;
    item(index);
    skipBlank(scan);
    if (scan.text[scan.at] !== ",") break;
    scan.at++;
  }
  scan.at++;
}

function note(scan: Scan, path: TomlPath, place: Place): void {
  const key = JSON.stringify(path);
  if (!scan.places.has(key)) scan.places.set(key, place);
}

function skip(scan: Scan, pattern: RegExp): void {
  pattern.lastIndex = scan.at;
  scan.at += pattern.exec(scan.text)?.[0].length ?? 0;
}

/** White space, line ends and comments. */
function skipBlank(scan: Scan): void {
  for (;;) {
    skip(scan, /\s*/y);
    if (scan.text[scan.at] !== "#") return;
    skip(scan, /[^\n]*/y);
  }
}

/** One string of any of TOML's four kinds; a three-quoted one may end with two quotes of its own. */
function skipString(scan: Scan): void {
  const { text } = scan;
  const quote = text[scan.at] ?? "";
  const long = text.startsWith(quote.repeat(3), scan.at);
  const end = long ? quote.repeat(3) : quote;
  scan.at += end.length;
  while (scan.at < text.length && !text.startsWith(end, scan.at)) {
    scan.at += quote === '"' && text[scan.at] === "\\" ? 2 : 1;
  }
  scan.at += end.length;
  for (let own = 0; long && own < 2 && text[scan.at] === quote; own++) scan.at++;
}
