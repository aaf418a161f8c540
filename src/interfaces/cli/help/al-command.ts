import { Command, CommanderError, Option } from "commander";

/** A usage error with the command that it is of, from `al` on: `al creds add`. */
export class CommandError extends CommanderError {
  readonly command: string;

  constructor({ exitCode, code, message }: CommanderError, command: string) {
    super(exitCode, code, message);
    this.command = command;
  }
}

/** A command as all commands of al are made. */
export class AlCommand extends Command {
  /** An option that takes one of a few values. */
  choice(flags: string, description: string, values: readonly string[]): this {
    return this.addOption(new Option(flags, description).choices(values));
  }

  examples(...lines: readonly string[]): this {
    return this.addHelpText("after", notes("Examples", lines));
  }

  /** For a command whose exit codes say more than success, failure (1) and usage (2). */
  exitCodes(codes: Readonly<Record<number, string>>): this {
    const lines = Object.entries(codes).map(([code, meaning]) => `${code.padEnd(3)}  ${meaning}`);
    return this.addHelpText("after", notes("Exit codes", lines));
  }
}

function notes(title: string, lines: readonly string[]): string {
  return `\n${title}:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}

/** The description of an option with its choices and its default. */
export function optionText({ description, argChoices, defaultValue }: Option): string {
  const hasDefault =
    defaultValue !== undefined && !(Array.isArray(defaultValue) && defaultValue.length === 0);
  const notes = [
    ...(argChoices === undefined ? [] : [`choices: ${argChoices.join(", ")}`]),
    ...(hasDefault ? [`default: ${JSON.stringify(defaultValue)}`] : []),
  ];
  return notes.length === 0 ? description : `${description} (${notes.join("; ")})`;
}
