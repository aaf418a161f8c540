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
  const renamed = Object.entries(dialect.renamed ?? {}).reduce(renameKey, {
    table: theirs,
    remarks: [],
  });
  return Object.keys(dialect.known).reduce(
    (before, level) => keepKnown(before, level, dialect),
    renamed,
  );
}

function renameKey(before: Translated, [from, to]: readonly [string, string]): Translated {
  const [first = "", second] = from.split(".");
  const inner = tableAt(before.table, first);
  const value = second === undefined ? before.table[first] : inner[second];
  if (value === undefined) return before;
  const rest = without(before.table, first);
  const left = second === undefined ? rest : { ...rest, [first]: without(inner, second) };
  const remark = { path: [to], message: `${from} is called ${to} here`, fix: null };
  return { table: { [to]: value, ...left }, remarks: [...before.remarks, remark] };
}

function keepKnown(before: Translated, level: string, dialect: Dialect): Translated {
  const { owner, known, removed = {} } = dialect;
  const inner = level === "" ? before.table : before.table[level];
  if (!isTable(inner)) return before;
  const unknown = Object.keys(inner).filter((name) => known[level]?.includes(name) !== true);
  const remarks = unknown.map((name) => {
    const path = level === "" ? name : `${level}.${name}`;
    const [instead, fix = null] = removed[path] ?? [`it is not a key of ${owner}`];
    const message = `${path} is left out: ${instead}`;
    return { path: level === "" ? [] : [level], message, fix };
  });
  const rest = without(inner, ...unknown);
  const outer = without(before.table, level);
  const isEmpty = Object.keys(rest).length === 0;
  const table = level === "" ? rest : isEmpty ? outer : { ...outer, [level]: rest };
  return { table, remarks: [...before.remarks, ...remarks] };
}
