import type { KeyRemark } from "./remarks.ts";
import { isTable, tableAt, without } from "./tables.ts";
import type { Table } from "./tables.ts";

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

/** A table of ours, and how it differs from theirs. */
export interface Translated {
  readonly table: Table;
  readonly remarks: readonly KeyRemark[];
}

/** The table with the keys that we have, and a remark for every other one. */
export function translateKeys(theirs: Table, dialect: Dialect): Translated {
  const { owner, known, renamed = {}, removed = {} } = dialect;
  const remarks: KeyRemark[] = [];
  let table = theirs;
  for (const [from, to] of Object.entries(renamed)) {
    const [first = "", second] = from.split(".");
    const value = second === undefined ? table[first] : tableAt(table, first)[second];
    if (value === undefined) continue;
    const rest =
      second === undefined
        ? without(table, first)
        : { ...table, [first]: without(tableAt(table, first), second) };
    table = { [to]: value, ...rest };
    remarks.push({ path: [to], message: `${from} is called ${to} here`, fix: null });
  }
  for (const [key, keys] of Object.entries(known)) {
    const inner = key === "" ? table : table[key];
    if (!isTable(inner)) continue;
    const unknown = Object.keys(inner).filter((name) => !keys.includes(name));
    for (const name of unknown) {
      const path = key === "" ? name : `${key}.${name}`;
      const [instead, fix = null] = removed[path] ?? [`it is not a key of ${owner}`];
      const message = `${path} is left out: ${instead}`;
      remarks.push({ path: key === "" ? [] : [key], message, fix });
    }
    const rest = without(inner, ...unknown);
    if (key === "") table = rest;
    else table = Object.keys(rest).length === 0 ? without(table, key) : { ...table, [key]: rest };
  }
  return { table, remarks };
}
