import { homedir } from "node:os";
import { isHelp } from "../help/command-table.ts";
import type { CommandEntry, OptionEntry } from "../help/command-table.ts";
import type { Proposal, Proposals } from "./proposal.ts";
import { valuesOf } from "./values.ts";

/** Where the cursor stands on a command line. */
interface Place {
  readonly command: CommandEntry;
  /** Whose value is at the cursor; null when none is. */
  readonly option: OptionEntry | null;
  /** Arguments before the cursor. */
  readonly given: readonly string[];
  /** Behind `--`, where no options and commands are. */
  readonly isEnded: boolean;
  readonly projectDir: string;
}

/**
 * Lines for the script of a shell: a word and its description, or what kind of paths to propose. `words` follow `al` on
 * the command line; the last one is at the cursor.
 */
export async function complete(al: CommandEntry, words: readonly string[]): Promise<string[]> {
  const current = words.at(-1) ?? "";
  const place = placeOf(al, words.slice(0, -1));
  const [flag = "", value] = current.split(/=(.*)/s);
  const assigned = value === undefined || place.isEnded ? undefined : optionAt(al, place, flag);
  const proposals = assigned?.value
    ? await valuesOf(assigned.value, place)
    : await proposalsAt(al, place, current);
  if (typeof proposals === "string") return [proposals];
  const prefix = assigned === undefined ? "" : `${flag}=`;
  return proposals.map(({ word, description = "" }) => `${prefix}${word}\t${description}`);
}

function placeOf(al: CommandEntry, before: readonly string[]): Place {
  let place: Place = { command: al, option: null, given: [], isEnded: false, projectDir: "." };
  // bash splits `--flag=value` at the sign.
  for (const word of before.filter((one) => one !== "=")) place = after(al, place, word);
  return place;
}

/** The place behind one more word. */
function after(al: CommandEntry, place: Place, word: string): Place {
  const { command, option, given, isEnded } = place;
  if (option !== null) return withValue({ ...place, option: null }, option, word);
  if (!isEnded && word === "--") return { ...place, isEnded: true };
  if (!isEnded && word.startsWith("-")) return afterFlag(al, place, word);
  const inner =
    isEnded || given.length > 0 ? undefined : command.commands.find((one) => isCalled(one, word));
  return inner === undefined ? { ...place, given: [...given, word] } : { ...place, command: inner };
}

function afterFlag(al: CommandEntry, place: Place, word: string): Place {
  const [flag = "", value] = word.split(/=(.*)/s);
  const option = optionAt(al, place, flag);
  if (!option?.value) return place;
  return value === undefined ? { ...place, option } : withValue(place, option, value);
}

function withValue(place: Place, { names }: OptionEntry, value: string): Place {
  if (!names.includes("--project")) return place;
  return { ...place, projectDir: value.replace(/^~/, homedir()) };
}

function optionAt(al: CommandEntry, { command }: Place, flag: string): OptionEntry | undefined {
  return [...command.options, ...al.options].find(({ names }) => names.includes(flag));
}

async function proposalsAt(al: CommandEntry, place: Place, current: string): Promise<Proposals> {
  const { command, option, given, isEnded } = place;
  if (option?.value) return valuesOf(option.value, place);
  if (!isEnded && current.startsWith("-")) {
    const options = new Map([...al.options, ...command.options].map((one) => [one.flags, one]));
    return [...options.values()].flatMap(({ names, description }) =>
      names.map((word) => ({ word, description })),
    );
  }
  const commands = isHelp(command) ? al.commands.filter((one) => !isHelp(one)) : command.commands;
  if (!isEnded && given.length === 0 && commands.length > 0) return commands.flatMap(named);
  const argument = command.arguments[given.length];
  return argument === undefined ? [] : valuesOf(argument, place);
}

function named(entry: CommandEntry): Proposal[] {
  return namesOf(entry).map((word) => ({ word, description: entry.description }));
}

function isCalled(entry: CommandEntry, name: string): boolean {
  return namesOf(entry).includes(name);
}

function namesOf({ path, aliases }: CommandEntry): readonly string[] {
  return [path.at(-1) ?? "", ...aliases];
}
