/** A command in an agent's shell. */
export interface CommandRow {
  readonly name: string;
  readonly usage: string;
  /** For an agent, in a few words. */
  readonly purpose: string;
  /** Its options by name. A list may be given several times. */
  readonly options?: Readonly<Record<string, "text" | "flag" | "list">>;
  /** The body of the request; throws a UsageError for arguments that it does not take. */
  readonly body: (args: CommandArguments) => Promise<object> | object;
}

/** The arguments of a command. Words that the row does not take are refused. */
export interface CommandArguments {
  /** The next word; `what` names it in the error for its absence. */
  word(what: string): string;
  /** The next word, if there is one. */
  optionalWord(): string | undefined;
  /** All words, at least one. */
  words(what: string): readonly string[];
  text(option: string): string | undefined;
  /** True or absent. */
  flag(option: string): true | undefined;
  list(option: string): readonly string[];
  seconds(option: string): number | undefined;
  stdin(): Promise<string>;
}

/** A command was called with arguments that it does not take. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

/** A text as the value that it is the JSON of; else the text itself. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
