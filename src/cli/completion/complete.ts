import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { agentNamePattern } from "../../contracts/agent-name.ts";
import { isHelp } from "../help/command-table.ts";
import type { CommandEntry, OptionEntry, ValueEntry } from "../help/command-table.ts";

/** A word that may stand at the cursor, for options and commands with a description. */
interface Proposal {
  readonly word: string;
  readonly description?: string;
}

/** Paths are proposed by the shell itself. */
type Proposals = "@files" | "@directories" | readonly Proposal[];

/** Where the cursor stands on a command line. */
interface Place {
  readonly command: CommandEntry;
  /** Whose value is at the cursor; null when none is. */
  readonly option: OptionEntry | null;
  /** Arguments before the cursor. */
  readonly count: number;
  /** Behind `--`, where no options and commands are. */
  readonly isEnded: boolean;
  readonly projectDir: string;
}

/**
 * Lines for the script of a shell: a word and its description, or what kind of paths to propose. `words` follow `al` on
 * the command line; the last one is at the cursor.
 */
export function complete(al: CommandEntry, words: readonly string[]): string[] {
  const current = words.at(-1) ?? "";
  const place = placeOf(al, words.slice(0, -1));
  const [flag = "", value] = current.split(/=(.*)/s);
  const assigned = value === undefined || place.isEnded ? undefined : optionAt(al, place, flag);
  const proposals = assigned?.value
    ? valuesOf(assigned.value, place.projectDir)
    : proposalsAt(al, place, current);
  if (typeof proposals === "string") return [proposals];
  const prefix = assigned === undefined ? "" : `${flag}=`;
  return proposals.map(({ word, description = "" }) => `${prefix}${word}\t${description}`);
}

function placeOf(al: CommandEntry, before: readonly string[]): Place {
  let place: Place = { command: al, option: null, count: 0, isEnded: false, projectDir: "." };
  // bash splits `--flag=value` at the sign.
  for (const word of before.filter((one) => one !== "=")) place = after(al, place, word);
  return place;
}

/** The place behind one more word. */
function after(al: CommandEntry, place: Place, word: string): Place {
  const { command, option, count, isEnded } = place;
  if (option !== null) return withValue({ ...place, option: null }, option, word);
  if (!isEnded && word === "--") return { ...place, isEnded: true };
  if (!isEnded && word.startsWith("-")) return afterFlag(al, place, word);
  const inner =
    isEnded || count > 0 ? undefined : command.commands.find((one) => isCalled(one, word));
  return inner === undefined ? { ...place, count: count + 1 } : { ...place, command: inner };
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

function proposalsAt(al: CommandEntry, place: Place, current: string): Proposals {
  const { command, option, count, isEnded, projectDir } = place;
  if (option?.value) return valuesOf(option.value, projectDir);
  if (!isEnded && current.startsWith("-")) {
    const options = new Map([...al.options, ...command.options].map((one) => [one.flags, one]));
    return [...options.values()].flatMap(({ names, description }) =>
      names.map((word) => ({ word, description })),
    );
  }
  const commands = isHelp(command) ? al.commands.filter((one) => !isHelp(one)) : command.commands;
  if (!isEnded && count === 0 && commands.length > 0) return commands.flatMap(named);
  const argument = command.arguments[count];
  return argument === undefined ? [] : valuesOf(argument, projectDir);
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

/** By what help writes between the brackets: one name for one thing. */
function valuesOf({ name, choices }: ValueEntry, projectDir: string): Proposals {
  if (choices.length > 0) return choices.map((word) => ({ word }));
  if (name === "dir" || name === "repo") return "@directories";
  if (name === "path" || name === "fixture") return "@files";
  if (name === "target") return alertTargetsIn(projectDir);
  if (name === "scope") return [{ word: "project" }, ...agentsIn(projectDir)];
  return name === "agent" || name === "agent|instance" ? agentsIn(projectDir) : [];
}

const agentName = new RegExp(`^${agentNamePattern}$`);

function agentsIn(projectDir: string): Proposal[] {
  const dir = join(projectDir, "agents");
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .filter((name) => agentName.test(name))
    .filter((name) => existsSync(join(dir, name, "config.toml")))
    .map((word) => ({ word }));
}

/** By the lines that begin their tables: to parse TOML would take longer than a person waits for a completion. */
const alertTarget = /^\s*\[\s*alerts\s*\.\s*"?([\w-]+)"?\s*\]/gm;

function alertTargetsIn(projectDir: string): Proposal[] {
  const path = join(projectDir, "config.toml");
  if (!existsSync(path)) return [];
  const names = [...readFileSync(path, "utf8").matchAll(alertTarget)].map(([, name = ""]) => name);
  return [...new Set(names)].map((word) => ({ word }));
}
