/** The view of a list in an address: the filters, and the cursor of a page. */
export interface ListView {
  readonly filters: Readonly<Partial<Record<string, string>>>;
  /** Empty for the newest page. */
  readonly before: string;
}

/** The view of an address; its other parameters are dropped. */
export function viewOf(names: readonly string[], query: URLSearchParams): ListView {
  const given = names.map((name) => [name, query.get(name) ?? ""] as const);
  const filters = Object.fromEntries(given.filter(([, value]) => value !== ""));
  return { filters, before: query.get("before") ?? "" };
}

/** The query of a view's address. */
export function queryOf({ filters, before }: ListView): string {
  const query = new URLSearchParams(filters as Record<string, string>);
  if (before !== "") query.set("before", before);
  return query.toString();
}
