import { isDeepStrictEqual } from "node:util";
import { parse, stringify } from "smol-toml";
import { edited } from "../../../foundation/config/edit-toml.ts";
import type { Edit } from "../../../foundation/config/edit-toml.ts";

/** A TOML table, or what YAML has in its place. */
export type Table = Readonly<Record<string, unknown>>;

export function isTable(value: unknown): value is Table {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date)
  );
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

/** Both tables in one; values of `over` win, and tables are merged with each other. */
export function merged(table: Table, over: Table): Table {
  const result: Record<string, unknown> = { ...table };
  for (const [key, value] of Object.entries(over)) {
    const before = result[key];
    result[key] = isTable(before) && isTable(value) ? merged(before, value) : value;
  }
  return result;
}

/**
 * TOML text for a table that was made from another one: the source's own text, comments included, with only that
 * changed which differs. Where the writer of edits does not get that right, the text is written anew.
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
    // Then the edits broke the text.
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
