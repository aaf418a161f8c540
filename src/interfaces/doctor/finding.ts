import type { Problem } from "../../../streams/vocabulary.ts";
import { shellWord } from "../../foundation/contracts/shell-word.ts";
import { messageOf, UserError } from "../../foundation/errors.ts";
import type { DoctorContext } from "./doctor-context.ts";

/**
 * `ok` and `note` describe the state, a `warning` what may go wrong, an `error` what is broken. `fixed` was broken
 * until the doctor fixed it.
 */
export type Severity = "ok" | "note" | "warning" | "error" | "fixed";

/** What a check found out. */
export interface Finding {
  readonly severity: Severity;
  /** What is so, in a sentence without full stop. */
  readonly what: string;
  /** The file (with line and column), address or program that it is about; null when `what` has it. */
  readonly where: string | null;
  /** The command that fixes it, or what to do where no command can; null when nothing is to be done. */
  readonly fix: string | null;
  /** Repairs it; there only where that is safe without asking. Rejects with the reason when it can't. */
  readonly repair?: () => Promise<void>;
}

/** One check of the doctor. It changes nothing; only a finding's `repair` does. */
export interface Check {
  readonly name: string;
  readonly run: (context: DoctorContext) => readonly Finding[] | Promise<readonly Finding[]>;
}

export function ok(what: string): Finding {
  return { severity: "ok", what, where: null, fix: null };
}

export function note(what: string, fix: string | null = null): Finding {
  return { severity: "note", what, where: null, fix };
}

/** More agents than this get one line in place of one for each. */
export const agentsInWords = 10;

/** The agents by name, or how many where the names would take more room than what is said of them. */
export function agentNames(names: readonly string[]): string {
  return names.length > agentsInWords ? `${names.length} agents` : names.join(", ");
}

/** A command of this program for the context's project, as it is typed in the current directory. */
export function alCommand(
  { projectDir }: Pick<DoctorContext, "projectDir">,
  command: string,
): string {
  return projectDir === process.cwd()
    ? `al ${command}`
    : `al ${command} -p ${shellWord(projectDir)}`;
}

/** A problem of a config file as a finding. */
export function ofProblem({ severity, file, line, column, message }: Problem): Finding {
  const where = [file, line, column].filter((part) => part !== null).join(":");
  return { severity, what: message, where, fix: `edit ${where}` };
}

/** Anything that was thrown, as a finding; a UserError's hint is the fix. */
export function ofError(error: unknown, severity: Severity, where: string | null): Finding {
  const fix = error instanceof UserError ? error.hint : null;
  return { severity, what: messageOf(error), where, fix };
}
