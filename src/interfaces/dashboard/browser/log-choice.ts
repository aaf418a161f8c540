import { withQuery } from "./addresses.ts";

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
  return withQuery(location.pathname, { ...choice });
}

/** The parameters of a request for the lines that are wanted. */
export function requestOfChoice({ instance, q, level }: LogChoice): Omit<LogChoice, "at"> {
  return { instance, q, level };
}
