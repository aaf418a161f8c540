import type { CommanderError } from "commander";
import { closest, meant } from "../../../foundation/contracts/did-you-mean.ts";
import { Problem, hasCode, messageOf, usageError } from "../../../foundation/errors.ts";
import { errorText, plainJson } from "./format.ts";

/** The report of anything that was thrown. Only an unexpected error names its stack. */
function reportOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return hasCode(error, "EACCES", "EPERM")
    ? new Problem(
        "no_access",
        messageOf(error),
        "Use an OS user that may access it, or change its permissions.",
      )
    : new Problem(
        "unexpected",
        messageOf(error),
        "This is a bug in al. Run the command again with AL_DEBUG=1 to see where.",
      );
}

/** Names, and the words of other programs for them, which are too different for typing errors. */
const synonyms: ReadonlyMap<string, string> = new Map([
  ["stat", "list ls ps"],
  ["run", "trigger exec"],
  ["new", "init create"],
  ["start", "up serve"],
  ["stop", "down"],
  ["failed", "error errors"],
  ["succeeded", "success"],
  ["timed_out", "timeout"],
  ["schedule", "cron tick"],
  ["manual", "api"],
  ["anthropic", "claude"],
  ["openai", "gpt chatgpt"],
  ["google", "gemini"],
  ["xai", "grok"],
  ["local", "ollama"],
]);

/** Commander's error texts in our words; `$1` is the option, argument or command. */
const rewrites: readonly (readonly [RegExp, string])[] = [
  [
    /^option '(?:-\w, )?([^' ]+)(?: [^']*)?' argument '([^]*)' is invalid\. ?/,
    '$1 can\'t be "$2". ',
  ],
  [/^command-argument value '([^]*)' is invalid for argument '(.+?)'\. ?/, '<$2> can\'t be "$1". '],
  [/Allowed choices are (.+)\.$/, "Choose one of $1."],
  [/^option '(.+)' argument missing$/, "$1 needs a value."],
  [/^missing required argument '(.+)'$/, "The argument <$1> is missing."],
  [/^required option '(.+)' not specified$/, "The option $1 is missing."],
  [
    /^too many arguments for '(.+)'\. Expected (\d+) arguments? but got (\d+)$/,
    "too many arguments: $1 takes $2, not $3",
  ],
  [/^(unknown \w+) '([^]*)'$/, '$1 "$2"'],
];

/**
 * Commander's error in our words. `path` is the command, from `al` on; `near` is another one that was probably meant,
 * and `advice` the hint for a word that is known otherwise.
 */
export function commandError(
  error: CommanderError,
  path: string,
  { near, advice }: Readonly<Record<"near" | "advice", string | null>>,
): Problem {
  const [message = "", ...rest] = error.message.replace(/^error: /, "").split("\n");
  const [, given = "", choices = ""] =
    /'([^']+)' is invalid.*choices are (.+)\.$/.exec(message) ?? [];
  const asked = near ?? nearest(given, choices.split(", "));
  const hint =
    advice ??
    (asked === null
      ? (hintOf(rest.join(" "), error.code) ?? `Run \`${path} --help\` to see how it is used.`)
      : meant(asked));
  // Excess arguments are not repeated: one may be a secret in the wrong place.
  const isExcess = error.code === "commander.excessArguments";
  const shown = isExcess ? message.replace(/( but got \d+): [^]*$/, "$1") : message;
  return usageError(
    rewrites.reduce((text, [from, to]) => text.replace(from, to), shown),
    hint,
  );
}

/** The name here for another program's word. */
export function synonymOf(given: string, known: readonly string[]): string | null {
  return known.find((name) => synonyms.get(name)?.split(" ").includes(given)) ?? null;
}

/** The allowed word that was probably meant: by its meaning or its spelling. */
export function nearest(given: string, known: readonly string[]): string | null {
  return synonymOf(given, known) ?? closest(given, known);
}

/** Commander's text in parentheses, in our words. */
function hintOf(given: string, code: string): string | null {
  const text = given.replace(/^\((.*)\)$/, "$1");
  const [, near] = /^Did you mean (?:one of )?(.+)\?$/.exec(text) ?? [];
  if (near !== undefined) return meant(...near.split(", "));
  if (code === "commander.unknownCommand") return "Run `al --help` to list the commands.";
  return text === "" ? null : text;
}

/** Prints an error for a person (or, with `--json`, a program); returns its exit code. */
export function reportError(error: unknown, json: boolean, env: NodeJS.ProcessEnv): number {
  const { code, message, hint, exitCode } = reportOf(error);
  if (json) process.stdout.write(`${plainJson({ error: { code, message, hint } })}\n`);
  else process.stderr.write(`${errorText({ message, hint })}\n`);
  if (env.AL_DEBUG && error instanceof Error) process.stderr.write(`${stackOf(error)}\n`);
  return exitCode;
}

function stackOf(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${stackOf(error.cause)}` : "";
  return `${error.stack ?? error.message}${cause}`;
}
