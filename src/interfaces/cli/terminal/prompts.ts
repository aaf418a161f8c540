import { isatty } from "node:tty";
import { Problem, usageError } from "../../../foundation/errors.ts";
import type { Context } from "../context.ts";

/** Questions to the person at the terminal. Ctrl-C at any of them throws a Problem with exit code 130. */
export type Prompts = NonNullable<Awaited<ReturnType<typeof openPrompts>>>;

export interface TextQuestion {
  readonly message: string;
  readonly default?: string;
  /** The problem of an answer; null for a valid one. */
  readonly problem?: (answer: string) => string | null;
}

interface Choice<Value extends string> {
  readonly value: Value;
  readonly name: string;
}

/** Visible choices, fewer than a small terminal's lines. */
const maxChoices = 12;

/** Prompts for a person; null if no answer is possible: off a terminal, and with `--json`. */
export async function openPrompts({ out }: Pick<Context, "out">) {
  if (out.json || !isatty(0) || !isatty(2)) return null;
  const { confirm, input, password, select } = await import("@inquirer/prompts");
  // Standard output is for data.
  const streams = { output: process.stderr };
  return {
    text: ({ message, default: usual, problem = () => null }: TextQuestion) => {
      const question = { message, ...(usual === undefined ? {} : { default: usual }) };
      const validate = (answer: string) => problem(answer) ?? true;
      return answered(input({ ...question, validate }, streams));
    },
    /** The typed text is not shown. */
    secret: (message: string) =>
      answered(password({ message, mask: false, toggleMask: false }, streams)),
    /** Enter selects `usual`, or by default the first. */
    choose: <Value extends string>(
      message: string,
      choices: readonly Choice<Value>[],
      usual?: Value,
    ) => {
      const begin = usual === undefined ? {} : { default: usual };
      return answered(select({ message, choices, pageSize: maxChoices, ...begin }, streams));
    },
    confirm: (message: string) => answered(confirm({ message, default: false }, streams)),
  };
}

async function answered<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "ExitPromptError") throw error;
    throw new Problem("interrupted", "interrupted; nothing was changed", { exitCode: 130 });
  }
}

/** The error instead of a question, off a terminal. */
export function missingFlag(flag: string, why: string): Problem {
  return usageError(`${flag} is missing: ${why}`, "On a terminal, you are prompted for it.");
}

/** Asks before a change. Throws Problem: `refused` after a no; off a terminal, `why` --yes is needed. */
export async function mustConfirm(
  prompts: Prompts | null,
  { question, why, refused }: Readonly<Record<"question" | "why" | "refused", string>>,
): Promise<void> {
  if (prompts === null) throw missingFlag("--yes", why);
  if (!(await prompts.confirm(question))) throw new Problem("refused", refused);
}
