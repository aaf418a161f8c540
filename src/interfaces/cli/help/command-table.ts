import type { Argument, Command, Option } from "commander";
import { optionText } from "./al-command.ts";

/** A command as used by help, completion and the reference page. */
export interface CommandEntry {
  /** Names from `al` on: `["al", "creds", "add"]`. */
  readonly path: readonly string[];
  /** Alternatives for the last name of the path. */
  readonly aliases: readonly string[];
  readonly description: string;
  /** The first line of its help, without "Usage:". */
  readonly usage: string;
  readonly arguments: readonly ValueEntry[];
  /** The command's own options; those of `al` itself apply to every command. */
  readonly options: readonly OptionEntry[];
  readonly commands: readonly CommandEntry[];
  /** The end of its help, after commander's own part: examples and exit codes. */
  readonly notes: string;
}

/** An argument, or an option's value. */
export interface ValueEntry {
  /** The text between the brackets. */
  readonly name: string;
  readonly description: string;
  /** The allowed values; empty if others are allowed. */
  readonly choices: readonly string[];
  readonly isRequired: boolean;
}

export interface OptionEntry {
  /** The option in help: `-p, --project <dir>`. */
  readonly flags: string;
  /** `["-p", "--project"]` */
  readonly names: readonly string[];
  readonly description: string;
  /** Null for a flag without a value. */
  readonly value: ValueEntry | null;
}

/** The command and all below it, hidden ones left out. */
export function commandTable(command: Command, above: readonly string[] = []): CommandEntry {
  const path = [...above, command.name()];
  const help = command.createHelp();
  return {
    path,
    aliases: command.aliases(),
    description: command.description(),
    usage: help.commandUsage(command),
    arguments: command.registeredArguments.map(argumentOf),
    options: help.visibleOptions(command).map(optionOf),
    commands: help
      .visibleCommands(command)
      .map((inner) => commandTable(inner, path))
      .sort((a, b) => Number(isHelp(a)) - Number(isHelp(b))),
    notes: notesOf(command),
  };
}

/** Whether it is the help command, which exists at every level. */
export function isHelp({ path }: CommandEntry): boolean {
  return path.length > 1 && path.at(-1) === "help";
}

function argumentOf(argument: Argument): ValueEntry {
  const { description, argChoices: choices = [] } = argument;
  return { name: argument.name(), description, choices, isRequired: argument.required };
}

function optionOf(option: Option): OptionEntry {
  const { flags, short, long, description, argChoices: choices = [], required } = option;
  const names = [short, long].filter((name) => name !== undefined);
  const [, name] = /[<[]([^<>[\]]+)[\]>]/.exec(flags) ?? [];
  const value = name === undefined ? null : { name, description, choices, isRequired: required };
  return { flags, names, description: optionText(option), value };
}

/** Commander writes texts added to a help only to its output. */
function notesOf(command: Command): string {
  let shown = "";
  const before = command.configureOutput();
  command.configureOutput({ writeOut: (text) => (shown += text) });
  command.outputHelp();
  command.configureOutput(before);
  return shown.slice(command.helpInformation().length).trim();
}
