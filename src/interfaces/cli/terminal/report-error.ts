import type { CommanderError } from "commander";
import { closest, meant } from "../../../foundation/contracts/did-you-mean.ts";
import { Problem, hasCode, messageOf, usageError } from "../../../foundation/errors.ts";
import { plain, plainJson } from "./format.ts";

/** The report of anything that was thrown. Only an unexpected error names its stack. */
function reportOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return hasCode(error, "EACCES", "EPERM")
    ? new Problem(
        "no_access",
        messageOf(error),
        "use an OS user that may, or change the permissions",
      )
    : new Problem(
        "unexpected",
        messageOf(error),
        "this is a fault in al itself; run it again with AL_DEBUG=1 to see where",
      );
}

/** Commander's error in our words. `path` is the command, from `al` on; `near` is another one that was probably meant. */
export function commandError(error: CommanderError, path: string, near: string | null): Problem {
  const [message = "", ...rest] = error.message.replace(/^error: /, "").split("\n");
  const [, given = "", choices = ""] =
    /'([^']+)' is invalid.*choices are (.+)\.$/.exec(message) ?? [];
  const asked = near ?? closest(given, choices.split(", "));
  const hint =
    asked === null
      ? (hintOf(rest.join(" "), error.code) ?? `${path} --help shows how it is used`)
      : meant(asked);
  // Excess arguments are not repeated: one may be a secret in the wrong place.
  const isExcess = error.code === "commander.excessArguments";
  return usageError(isExcess ? message.replace(/( but got \d+): [^]*$/, "$1") : message, hint);
}

/** Commander's text in parentheses, in our words. */
function hintOf(given: string, code: string): string | null {
  const text = given.replace(/^\((.*)\)$/, "$1");
  const [, near] = /^Did you mean (?:one of )?(.+)\?$/.exec(text) ?? [];
  if (near !== undefined) return meant(...near.split(", "));
  if (code === "commander.unknownCommand") return "al --help lists the commands";
  return text === "" ? null : text;
}

/** Prints an error for a person (or, with `--json`, a program); returns its exit code. */
export function reportError(error: unknown, json: boolean, env: NodeJS.ProcessEnv): number {
  const { code, message, hint, exitCode } = reportOf(error);
  if (json) process.stdout.write(`${plainJson({ error: { code, message, hint } })}\n`);
  else {
    // The error may quote a file, an argument, or the answer of a distant server.
    process.stderr.write(`error: ${plain(message)}\n`);
    if (hint !== null) process.stderr.write(`hint: ${plain(hint)}\n`);
  }
  if (env.AL_DEBUG && error instanceof Error) process.stderr.write(`${stackOf(error)}\n`);
  return exitCode;
}

function stackOf(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${stackOf(error.cause)}` : "";
  return `${error.stack ?? error.message}${cause}`;
}
