/** The part of an agent's log that a page shows, as in its address; "" for no choice. */
export interface LogChoice {
  /** Lines of one run only. */
  readonly instance: string;
  /** Lines with this text. */
  readonly q: string;
  /** Lines of this level and above. */
  readonly level: string;
  /** The lines around this position, regardless of their text and level. */
  readonly at: string;
}

/** The choice that an address stands for. */
export function choiceOf(query: URLSearchParams): LogChoice {
  const [instance = "", q = "", level = "", at = ""] = ["instance", "q", "level", "at"].map(
    (name) => query.get(name) ?? "",
  );
  return at === "" ? { instance, q, level, at } : { instance, q: "", level: "", at };
}

/** Whether lines are left out by their text or level. */
export function isFiltered({ q, level }: LogChoice): boolean {
  return q !== "" || level !== "";
}
