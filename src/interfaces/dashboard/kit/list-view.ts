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

/** The part of an agent's log that a page shows, as in its address; "" for no choice. */
export interface LogChoice {
  /** Lines of one run only. */
  readonly instance: string;
  /** Lines with this text. */
  readonly q: string;
  /** Lines of this level and above. */
  readonly level: string;
  /** The lines around this position, also those without the text and below the level: these lead to the next match. */
  readonly at: string;
}

/** The choice that an address stands for. */
export function choiceOf(query: URLSearchParams): LogChoice {
  const [instance = "", q = "", level = "", at = ""] = ["instance", "q", "level", "at"].map(
    (name) => query.get(name) ?? "",
  );
  return { instance, q, level, at };
}

/** Whether some lines are matches, by their text or level. */
export function hasMatches({ q, level }: LogChoice): boolean {
  return q !== "" || level !== "";
}

/** Whether all lines but the matches are left out. */
export function isFiltered(choice: LogChoice): boolean {
  return choice.at === "" && hasMatches(choice);
}
