import { isDeepStrictEqual } from "node:util";
import { parse, stringify } from "smol-toml";
import { isPlainObject } from "../../../foundation/contracts/json-size.ts";
import { edited, type Edit } from "../../../foundation/config/edit-toml.ts";
import { tomlLocator, type TomlPath } from "../../../foundation/config/toml-locator.ts";

/** A TOML table, or a YAML mapping. */
export type Table = Readonly<Record<string, unknown>>;

export function isTable(value: unknown): value is Table {
  return isPlainObject(value) && !(value instanceof Date);
}

/** The value as a table; anything else counts as an empty one. */
export function tableAt(table: Table, key: string): Table {
  const value = table[key];
  return isTable(value) ? value : {};
}

export function textAt(table: Table, key: string): string | null {
  const value = table[key];
  return typeof value === "string" ? value : null;
}

/** The texts of a list, without its other elements. */
export function textsAt(table: Table, key: string): string[] {
  const value = table[key];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** The tables of a list, without its other elements. */
export function tablesAt(table: Table, key: string): Table[] {
  const value = table[key];
  return Array.isArray(value) ? value.filter(isTable) : [];
}

/** The table without these keys. */
export function without(table: Table, ...keys: readonly string[]): Table {
  return Object.fromEntries(Object.entries(table).filter(([key]) => !keys.includes(key)));
}

/** Both tables merged recursively; values of `over` win. */
export function merged(table: Table, over: Table): Table {
  const result: Record<string, unknown> = { ...table };
  for (const [key, value] of Object.entries(over)) {
    const before = result[key];
    result[key] = isTable(before) && isTable(value) ? merged(before, value) : value;
  }
  return result;
}

/**
 * TOML text for a table that was derived from another: the source's own text with comments, of which only the
 * differences are changed. If the editor fails at that, the text is written anew.
 */
export function textFor(
  source: { readonly text: string; readonly table: Table } | null,
  after: Table,
): string {
  if (source === null) return stringify(after);
  const text = edited(source.text, differences(source.table, after, []));
  return isSame(text, after) ? text : stringify(after);
}

function isSame(text: string, table: Table): boolean {
  try {
    return isDeepStrictEqual(parse(text), parse(stringify(table)));
  } catch {
    // The edits made the text invalid TOML.
    return false;
  }
}

function differences(before: Table, after: Table, path: readonly string[]): Edit[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key): Edit[] => {
    const [old, value] = [before[key], after[key]];
    if (isDeepStrictEqual(old, value)) return [];
    const at = [...path, key];
    return isTable(old) && isTable(value) ? differences(old, value, at) : [{ path: at, value }];
  });
}

/** Something that the import changed, or that a person must change. */
export interface Remark {
  /** Path in the new project; null for a remark about credentials. */
  readonly file: string | null;
  /** From 1; null for a whole file. */
  readonly line: number | null;
  readonly message: string;
  /** The text to write there, or the command to type; null if nothing is left to do. */
  readonly fix: string | null;
}

/**
 * Adds a remark about a key of an unwritten file: with a path instead of a line, an empty one for the whole file.
 * Without a fix nothing is left to do.
 */
export type AddRemark = (path: TomlPath, message: string, fix?: string) => void;

/** Collects remarks about keys; `placedIn` returns them with their lines in the file's text. */
export function keyRemarks() {
  const remarks: { path: TomlPath; message: string; fix: string | null }[] = [];
  const add: AddRemark = (path, message, fix) =>
    void remarks.push({ path, message, fix: fix ?? null });
  return {
    add,
    placedIn: (file: string, text: string): Remark[] => {
      const locate = tomlLocator(text);
      return remarks.map(({ path, ...remark }) => {
        return { file, line: locate(path, "key")?.line ?? null, ...remark };
      });
    },
  };
}

/** How the keys of an imported table differ from ours. A dot in a key leads into a table. */
export interface Dialect {
  /** The owner of the table, as in "colour is left out: it is not a key of an agent". */
  readonly owner: string;
  /** Our keys by their table; "" is the table itself. */
  readonly known: Readonly<Record<string, readonly string[]>>;
  /** Renamed keys: theirs to ours. */
  readonly renamed?: Readonly<Record<string, string>>;
  /** Keys without a counterpart: the replacement in al, and the remaining edit for a person, if any. */
  readonly removed?: Readonly<Record<string, readonly [instead: string, fix?: string]>>;
}

/** The table with the keys known here, and a remark for every other one. */
export function translateKeys(theirs: Table, dialect: Dialect, add: AddRemark): Table {
  const { owner, known, renamed = {}, removed = {} } = dialect;
  const table: Record<string, unknown> = {};
  const keep = (level: string, inner: Table): Table => {
    const kept: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(inner)) {
      const path = level === "" ? name : `${level}.${name}`;
      const ours = renamed[path];
      const [instead, fix] = removed[path] ?? [`it is not a key of ${owner}`];
      if (ours !== undefined) {
        add([ours], `${path} is called ${ours} here`);
        table[ours] = value;
      } else if (known[level]?.includes(name) !== true) {
        add(level === "" ? [] : [level], `${path} is left out: ${instead}`, fix);
      } else if (isTable(value) && known[path] !== undefined) {
        const below = keep(path, value);
        if (Object.keys(below).length > 0) kept[name] = below;
      } else kept[name] = value;
    }
    return kept;
  };
  return Object.assign(table, keep("", theirs));
}
