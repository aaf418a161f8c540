import { parseArgs } from "node:util";
import { UsageError } from "../../contracts/run-requests/command-row.ts";
import type { CommandArguments, CommandRow } from "../../contracts/run-requests/command-row.ts";

/** The body of a command's request. Throws a UsageError for arguments that the command does not take. */
export async function commandBody(
  row: CommandRow,
  args: readonly string[],
  stdin: () => Promise<string>,
): Promise<object> {
  const { positionals: left, values } = parsed(row, args);
  const text = (option: string): string | undefined => {
    const value = values[option];
    return typeof value === "string" ? value : undefined;
  };
  const body = await row.body({
    word: (what) => left.shift() ?? missing(what),
    optionalWord: () => left.shift(),
    words: (what) => (left.length === 0 ? missing(what) : left.splice(0)),
    text,
    flag: (option) => (values[option] === true ? true : undefined),
    list: (option) => (values[option] ?? []) as readonly string[],
    seconds: (option) => secondsIn(option, text(option)),
    stdin,
  } satisfies CommandArguments);
  if (left[0] !== undefined) throw new UsageError(`"${left[0]}" is one argument too many`);
  return body;
}

function parsed({ options = {} }: CommandRow, args: readonly string[]) {
  const types = Object.entries(options).map(([name, kind]) => {
    const type: "boolean" | "string" = kind === "flag" ? "boolean" : "string";
    return [name, { type, multiple: kind === "list" }] as const;
  });
  try {
    return parseArgs({
      args: [...args],
      options: Object.fromEntries(types),
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function missing(what: string): never {
  throw new UsageError(`the ${what} is missing`);
}

function secondsIn(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (text !== "" && Number.isFinite(seconds) && seconds >= 0) return seconds;
  throw new UsageError(`--${option} ${text} is not a number of seconds`);
}
