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

/** Words of other programs, and the name here: too different for a typing error. */
const synonyms: Readonly<Record<string, string>> = {
  ...{ list: "stat", ls: "stat", ps: "stat", trigger: "run", exec: "run", init: "new" },
  ...{ create: "new", up: "start", serve: "start", down: "stop", log: "logs", costs: "cost" },
  ...{ error: "failed", errors: "failed", success: "succeeded", timeout: "timed_out" },
  ...{ cron: "schedule", tick: "schedule", api: "manual" },
  ...{ claude: "anthropic", gpt: "openai", gemini: "google", grok: "xai", ollama: "local" },
};

/** Commander's error texts in our words; `$1` is the option, argument or command. */
const rewrites: readonly (readonly [RegExp, string])[] = [
  [/^option '(?:-\w, )?([^' ]+)[^']*' argument '([^]*)' is invalid\. ?/, '$1 can\'t be "$2". '],
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
  const named = Object.hasOwn(synonyms, given) ? synonyms[given] : undefined;
  return named !== undefined && known.includes(named) ? named : null;
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
