import { Command, Option, type CommandOptions } from "commander";
import { contextOf, globalContextOf, type Context, type GlobalContext } from "../context.ts";

/** A function with the operands and then the options of its command, as commander passes them. */
type Load<On, Given extends unknown[]> = () => Promise<(context: On, ...given: Given) => unknown>;

/** Adds its description, options and function to a new command. */
export type Define = (command: AlCommand) => AlCommand;

/** Commands by their names. */
export type Commands = Readonly<Record<string, Define>>;

/** The base of all commands of al. */
export class AlCommand extends Command {
  /** A command below this one. */
  inner(name: string, define: Define, options: CommandOptions = {}): this {
    return this.addCommand(define(new AlCommand(name)), options);
  }

  /** An option with a few allowed values. */
  choice(flags: string, description: string, values: readonly string[]): this {
    return this.addOption(new Option(flags, description).choices(values));
  }

  /** Loads the command's function when it is called; a number that it returns is the exit code. */
  does<Given extends unknown[]>(load: Load<Context, Given>): this {
    return this.#calls(contextOf, load);
  }

  /** Defines a command that needs no project. */
  doesAnywhere<Given extends unknown[]>(load: Load<GlobalContext, Given>): this {
    return this.#calls(globalContextOf, load);
  }

  #calls<On, Given extends unknown[]>(context: (command: Command) => On, load: Load<On, Given>) {
    return this.action(async (...given: unknown[]) => {
      const command = given.pop() as Command;
      const act = await load();
      const code = await act(context(command), ...(given as Given));
      if (typeof code === "number") process.exitCode = code;
    });
  }

  examples(...lines: readonly string[]): this {
    return this.addHelpText("after", notes("Examples", lines));
  }

  /** For a command with more exit codes than success, failure (1) and usage (2). */
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
