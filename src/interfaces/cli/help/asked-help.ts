import type { Command } from "commander";
import { meantOr } from "../../../foundation/contracts/did-you-mean.ts";
import { usageError } from "../../../foundation/errors.ts";
import { packageVersion } from "../../../foundation/version.ts";
import type { CommandEntry } from "./command-table.ts";

/** The words that are neither options nor the directory of `--project`. */
function operandsIn(words: readonly string[]): readonly string[] {
  const isProject = (word: string | undefined): boolean => word === "-p" || word === "--project";
  return words.filter((word, index) => !word.startsWith("-") && !isProject(words[index - 1]));
}

/** Whether `words`, which follow `al`, request the version or a help as JSON, which is then printed. */
export async function answeredAsJson(program: Command, words: readonly string[]): Promise<boolean> {
  if (!words.includes("--json")) return false;
  const names = operandsIn(words);
  const asks = (...flags: readonly string[]): boolean => flags.some((flag) => words.includes(flag));
  if (names.length === 0 && asks("--version", "-V")) {
    print({ version: packageVersion() });
    return true;
  }
  const isHelp = names[0] === "help" || asks("--help", "-h");
  if (!isHelp) return false;
  mustKnowHelp(program, words);
  const { commandTable } = await import("./command-table.ts");
  print(names.filter((name) => name !== "help").reduce(innerOf, commandTable(program)));
  return true;
}

function innerOf(entry: CommandEntry, name: string): CommandEntry {
  const isMeant = ({ path, aliases }: CommandEntry): boolean =>
    path.at(-1) === name || aliases.includes(name);
  return entry.commands.find(isMeant) ?? entry;
}

/** Throws Problem `usage` for `al help <no command>`, which would print the help of the commands above it. */
export function mustKnowHelp(program: Command, words: readonly string[]): void {
  const [first, ...names] = operandsIn(words);
  if (first === "help" && names[0] !== "help") mustHold(program, names, "al");
}

/** `al help budget raise` as `al budget raise --help`: commander's own help knows one command. */
export function helpAsFlag(words: readonly string[]): readonly string[] {
  const [first, ...names] = operandsIn(words);
  if (first !== "help" || names.length < 2) return words;
  return [...words.toSpliced(words.indexOf(first), 1), "--help"];
}

function mustHold({ commands }: Command, [name, ...rest]: readonly string[], path: string): void {
  if (name === undefined || name === "help" || commands.length === 0) return;
  const found = commands.find((one) => isCalled(one, name));
  if (found !== undefined) return mustHold(found, rest, `${path} ${found.name()}`);
  const known = commands.flatMap((one) => [one.name(), ...one.aliases()]);
  throw usageError(
    `unknown command "${name}"`,
    meantOr(name, known, `Run \`${path} --help\` to list the commands.`),
  );
}

function isCalled(command: Command, name: string): boolean {
  return command.name() === name || command.aliases().includes(name);
}

function print(document: unknown): void {
  process.stdout.write(`${JSON.stringify(document)}\n`);
}
