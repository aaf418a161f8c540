import { tomlLocator } from "../../../foundation/config/toml-locator.ts";
import type { TomlPath } from "../../../foundation/config/toml-locator.ts";
import { isTable, tableAt, without } from "./tables.ts";
import type { Table } from "./tables.ts";

/** Something that the import changed, or that a person has to change. */
export interface Remark {
  /** Path in the new project; null for a remark about credentials. */
  readonly file: string | null;
  /** From 1; null for a whole file. */
  readonly line: number | null;
  readonly message: string;
  /** The text to write there, or the command to type; null when nothing is left to do. */
  readonly fix: string | null;
}

/**
 * Adds a remark about a key of a file that is not written yet: it has a path instead of a line, an empty one for the whole
 * file. Without a fix nothing is left to do.
 */
export type AddRemark = (path: TomlPath, message: string, fix?: string) => void;

/** Remarks about keys, as they are collected. */
export interface KeyRemarks {
  readonly add: AddRemark;
  /** The remarks with their lines in the text of the file. */
  placedIn(file: string, text: string): Remark[];
}

export function keyRemarks(): KeyRemarks {
  const remarks: { path: TomlPath; message: string; fix: string | null }[] = [];
  return {
    add: (path, message, fix) => void remarks.push({ path, message, fix: fix ?? null }),
    placedIn: (file, text) => {
      const locate = tomlLocator(text);
      return remarks.map(({ path, message, fix }) => {
        return { file, line: locate(path, "key")?.line ?? null, message, fix };
      });
    },
  };
}

/** How the keys of one of their tables differ from ours. A dot in a key leads into a table. */
export interface Dialect {
  /** What the table belongs to, as in "colour is left out: it is not a key of an agent". */
  readonly owner: string;
  /** Our keys by the table that holds them; "" is the table itself. */
  readonly known: Readonly<Record<string, readonly string[]>>;
  /** Keys with another name: theirs to ours. */
  readonly renamed?: Readonly<Record<string, string>>;
  /** Keys without a counterpart: what al has instead, and what a person has to do where that is needed. */
  readonly removed?: Readonly<Record<string, readonly [instead: string, fix?: string]>>;
}

/** The table with the keys that we have, and a remark for every other one. */
export function translateKeys(theirs: Table, dialect: Dialect, add: AddRemark): Table {
  let table = theirs;
  for (const [from, to] of Object.entries(dialect.renamed ?? {})) {
    table = renameKey(table, from, to, add);
  }
  for (const level of Object.keys(dialect.known)) table = keepKnown(table, level, dialect, add);
  return table;
}

function renameKey(table: Table, from: string, to: string, add: AddRemark): Table {
  const [first = "", second] = from.split(".");
  const inner = tableAt(table, first);
  const value = second === undefined ? table[first] : inner[second];
  if (value === undefined) return table;
  add([to], `${from} is called ${to} here`);
  const rest = without(table, first);
  const left = second === undefined ? rest : { ...rest, [first]: without(inner, second) };
  return { [to]: value, ...left };
}

function keepKnown(table: Table, level: string, dialect: Dialect, add: AddRemark): Table {
  const { owner, known, removed = {} } = dialect;
  const inner = level === "" ? table : table[level];
  if (!isTable(inner)) return table;
  const unknown = Object.keys(inner).filter((name) => known[level]?.includes(name) !== true);
  for (const name of unknown) {
    const path = level === "" ? name : `${level}.${name}`;
    const [instead, fix] = removed[path] ?? [`it is not a key of ${owner}`];
    add(level === "" ? [] : [level], `${path} is left out: ${instead}`, fix);
  }
  const rest = without(inner, ...unknown);
  if (level === "") return rest;
  const outer = without(table, level);
  return Object.keys(rest).length === 0 ? outer : { ...outer, [level]: rest };
}
