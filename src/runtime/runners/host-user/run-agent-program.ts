import { existsSync } from "node:fs";
import { join } from "node:path";

/** Folder of host users' runs and their logs. */
export const runsDir = "/tmp/al-runs";

/** `al _run-agent <agent> --project <dir>` with absolute paths: the scheduler starts it, and sudo permits it. */
export function runAgentProgram(
  agent: string,
  projectDir: string,
): { readonly file: string; readonly args: readonly string[] } {
  return { file: process.execPath, args: [alPath(), "_run-agent", agent, "--project", projectDir] };
}

/** The program's own entry: in the built tree every module is in a folder beside it. */
function alPath(): string {
  const built = join(import.meta.dirname, "..", "cli", "al.js");
  return existsSync(built) ? built : join(import.meta.dirname, "../../../interfaces/cli/al.ts");
}
