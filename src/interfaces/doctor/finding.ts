import type { Diagnostic } from "../../../streams/vocabulary.ts";
import { shellWord } from "../../foundation/contracts/shell-word.ts";
import { messageOf, Problem } from "../../foundation/errors.ts";
import type { DoctorContext } from "./doctor-context.ts";

/**
 * `ok` and `note` describe the state, a `warning` a risk, an `error` a fault. `fixed` was a fault
 * until the doctor fixed it.
 */
export type Severity = "ok" | "note" | "warning" | "error" | "fixed";

/** A result of a check. */
export interface Finding {
  readonly severity: Severity;
  /** The fact, in a sentence without full stop. */
  readonly what: string;
  /** The file (with line and column), address or program of the finding; null if the text has it. */
  readonly where: string | null;
  /** The command that fixes it, or an instruction if no command can; null if nothing is to be done. */
  readonly fix: string | null;
  /** Repairs it; only present if that is safe without asking. Rejects with the reason of a failure. */
  readonly repair?: () => Promise<void>;
}

/** One check of the doctor. It changes nothing; only a finding's `repair` does. */
export type Check = (context: DoctorContext) => readonly Finding[] | Promise<readonly Finding[]>;

export function finding(
  severity: Severity,
  what: string,
  where: string | null,
  fix: string | null,
  repair?: () => Promise<void>,
): Finding {
  return { severity, what, where, fix, ...(repair && { repair }) };
}

export function ok(what: string): Finding {
  return finding("ok", what, null, null);
}

export function note(what: string, fix: string | null = null): Finding {
  return finding("note", what, null, fix);
}

/** More agents than this get one line instead of one each. */
export const agentsInWords = 10;

/** The agents by name, or their number if the names would be longer than the finding. */
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
export function ofProblem({ severity, file, line, column, message }: Diagnostic): Finding {
  const where = [file, line, column].filter((part) => part !== null).join(":");
  return finding(severity, message, where, `edit ${where}`);
}

/** Anything that was thrown, as a finding; a Problem's hint is the fix. */
export function ofError(error: unknown, severity: Severity, where: string | null): Finding {
  const hint = error instanceof Problem ? error.hint : null;
  // A fix is a command to paste where the hint has one.
  const [, command] = /^[^`]*`([^`]+)`\.$/.exec(hint ?? "") ?? [];
  return finding(severity, messageOf(error), where, command ?? hint);
}
