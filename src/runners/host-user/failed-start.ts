import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import { isOwnUser } from "./supervisor-process.ts";
import type { SupervisorStart } from "./supervisor-process.ts";

/** Why a run did not begin and what to do about it, from the lines that sudo or the program itself said. */
export function startProblem(
  { runAs, program }: SupervisorStart,
  lines: readonly string[],
): string {
  // What tells the reason, among the stack or the consequences.
  const said = lines.find((line) => /^sudo: |Error: |ENOENT/.test(line)) ?? lines.join("; ");
  const why = said === "" ? "no reason was given" : said;
  if (isOwnUser(runAs)) return `the run's process cannot be started: ${why}`;
  return `no run as OS user "${runAs}": ${why}; ${remedy(said, runAs, [program.file, ...program.args])}`;
}

function remedy(said: string, runAs: string, [file, al]: readonly string[]): string {
  if (/ENOENT/.test(said)) return `install sudo, or use run_as = "$USER"`;
  if (/unknown user/.test(said))
    return `"al doctor" makes the user, or: sudo useradd --system ${runAs}`;
  if (/password|not allowed|may not run|sudoers/.test(said)) {
    return `"al doctor" writes the sudoers rule that allows it`;
  }
  return `"${runAs}" must be able to read and run ${file} and ${al ?? "al"}: install both where every user can`;
}

/** The exit of a run whose supervisor was ended from outside, and the run with it. */
export const goneExit: RunnerEvent = {
  type: "exit",
  exit: {
    exitCode: null,
    signal: "SIGKILL",
    outOfMemory: false,
    rejected: null,
    error: "the process that kept the run was ended from outside",
    usage: null,
  },
};
