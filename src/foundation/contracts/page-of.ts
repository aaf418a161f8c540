/**
 * One page of a list: `list` is asked for one row more than `limit`, to know whether there is another page. `next` is the
 * id of the last row then, else null.
 */
export function pageOf<Row extends { readonly id: string | number }>(
  limit: number,
  list: (limit: number) => readonly Row[],
): { readonly rows: readonly Row[]; readonly next: Row["id"] | null } {
  const found = list(limit + 1);
  const rows = found.slice(0, limit);
  return { rows, next: found.length > limit ? (rows.at(-1)?.id ?? null) : null };
}
