/** Which part of an agent's log the page shows, as its address has it; "" for what is not chosen. */
export interface LogChoice {
  /** Lines of one run only. */
  readonly instance: string;
  /** Lines with this text. */
  readonly q: string;
  /** Lines of this level and above. */
  readonly level: string;
  /** The lines around this position, whatever their text and level. */
  readonly at: string;
}

export function choiceOfAddress(): LogChoice {
  const query = new URLSearchParams(location.search);
  const [instance = "", q = "", level = "", at = ""] = ["instance", "q", "level", "at"].map(
    (name) => query.get(name) ?? "",
  );
  return at === "" ? { instance, q, level, at } : { instance, q: "", level: "", at };
}

/** The address of the same log with another choice. */
export function addressOfChoice(choice: LogChoice): string {
  const query = queryOf(Object.entries(choice));
  return query === "" ? location.pathname : `${location.pathname}?${query}`;
}

/** The part of a request that says which lines are wanted. */
export function requestOfChoice({ instance, q, level }: LogChoice): string {
  return queryOf(Object.entries({ instance, q, level }));
}

function queryOf(values: readonly (readonly [string, string])[]): string {
  const given = values.filter(([, value]) => value !== "");
  return given.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
}
