import type { Problem } from "../../streams/vocabulary.ts";
import { shellWord } from "../contracts/shell-word.ts";
import { messageOf, UserError } from "../errors.ts";
import type { Finding, Severity } from "./finding.ts";
import type { DoctorContext } from "./doctor-context.ts";

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
