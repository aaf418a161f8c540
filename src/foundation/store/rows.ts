import type { SQLInputValue } from "node:sqlite";

/** A row with its columns of JSON parsed; null stays. */
export function withJson<Row>(row: unknown, ...columns: readonly (keyof Row)[]): Row {
  const given = row as Row;
  const parsed = columns.map((column) => [column, JSON.parse(String(given[column]))] as const);
  return { ...given, ...Object.fromEntries(parsed) };
}

/**
 * The WHERE of the conditions, by name, whose fields a filter has, and their values. Other conditions are not in the
 * query, so that each may use its index.
 */
export function whereOf(conditions: Readonly<Record<string, string>>, filter: object) {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  const terms = given.map(([name]) => conditions[name]);
  const where = terms.length === 0 ? "" : `WHERE ${terms.join(" AND ")}`;
  return { where, values: Object.fromEntries(given) as Readonly<Record<string, SQLInputValue>> };
}
