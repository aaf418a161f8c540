import { isatty } from "node:tty";
import { UserError } from "../../../foundation/errors.ts";
import type { Context } from "../context.ts";

/** Questions to the person at the terminal. Ctrl-C at any of them throws a UserError with exit code 130. */
export interface Prompts {
  text(question: TextQuestion): Promise<string>;
  /** What is typed is not shown. */
  secret(message: string): Promise<string>;
  /** Enter takes `usual`; the first without it. */
  choose<Value extends string>(
    message: string,
    choices: readonly Choice<Value>[],
    usual?: Value,
  ): Promise<Value>;
  confirm(message: string): Promise<boolean>;
}

export interface TextQuestion {
  readonly message: string;
  readonly default?: string;
  /** What is wrong with an answer; null when nothing is. */
  readonly problem?: (answer: string) => string | null;
}

export interface Choice<Value extends string> {
  readonly value: Value;
  readonly name: string;
}

/** Choices that are in sight at once, fewer than a small terminal's lines. */
const maxChoices = 12;

/** Prompts for a person; null where no answer is possible: off a terminal, and with `--json`. */
export async function openPrompts({ out }: Pick<Context, "out">): Promise<Prompts | null> {
  if (out.json || !isatty(0) || !isatty(2)) return null;
  const { confirm, input, password, select } = await import("@inquirer/prompts");
  // Standard output is for data.
  const streams = { output: process.stderr };
  return {
    text: ({ message, default: usual, problem = () => null }) => {
      const question = { message, ...(usual === undefined ? {} : { default: usual }) };
      const validate = (answer: string) => problem(answer) ?? true;
      return answered(input({ ...question, validate }, streams));
    },
    secret: (message) => answered(password({ message, mask: false, toggleMask: false }, streams)),
    choose: (message, choices, usual) => {
      const begin = usual === undefined ? {} : { default: usual };
      return answered(select({ message, choices, pageSize: maxChoices, ...begin }, streams));
    },
    confirm: (message) => answered(confirm({ message, default: false }, streams)),
  };
}

async function answered<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "ExitPromptError") throw error;
    throw new UserError("interrupted", "interrupted; nothing was changed", { exitCode: 130 });
  }
}

/** The error in place of a question, off a terminal. */
export function missingFlag(flag: string, why: string): UserError {
  return new UserError("usage", `${flag} is missing: ${why}`, {
    hint: "on a terminal it is asked for",
    exitCode: 2,
  });
}
