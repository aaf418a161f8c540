import { isOwnUser } from "./supervisor-process.ts";
import type { SupervisorStart } from "./supervisor-process.ts";

/** Why a run did not begin and what to do about it, from the lines of sudo or the program itself. */
export function startProblem(
  { runAs, program }: SupervisorStart,
  lines: readonly string[],
): string {
  // The line with the reason, among the stack or the consequences.
  const line = lines.find((each) => /^sudo: |Error: |ENOENT/.test(each)) ?? lines.join("; ");
  const why = line === "" ? "no reason was given" : line;
  if (isOwnUser(runAs)) return `the run's process cannot be started: ${why}`;
  return `no run as OS user "${runAs}": ${why}; ${remedy(line, runAs, [program.file, ...program.args])}`;
}

function remedy(line: string, runAs: string, [file, al]: readonly string[]): string {
  if (/ENOENT/.test(line)) return `install sudo, or use run_as = "$USER"`;
  if (/unknown user/.test(line))
    return `"al doctor" makes the user, or: sudo useradd --system ${runAs}`;
  if (/password|not allowed|may not run|sudoers/.test(line)) {
    return `"al doctor" writes the sudoers rule that allows it`;
  }
  return `"${runAs}" must be able to read and run ${file} and ${al ?? "al"}: install both where every user can`;
}
