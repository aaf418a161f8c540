import { access, constants } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { hasCode, isMissing } from "../../foundation/errors.ts";
import { isOwnUser } from "./supervisor-process.ts";

/** Whether a run would find a program; `unlikely` if the run's PATH is unknown here. */
export type ProgramSearch = "found" | "missing" | "unlikely";

const usualPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/snap/bin";

/**
 * Looks for a program, a name or a path, as a run of the OS user `runAs` would. A relative path begins in the run's
 * own folder, which its skill and its hooks fill: it counts as found. Another user's PATH is sudo's.
 */
export async function findProgram(
  program: string,
  runAs: string,
  { PATH }: NodeJS.ProcessEnv,
): Promise<ProgramSearch> {
  const isMine = isOwnUser(runAs);
  if (program.includes("/")) {
    const isThere = !isAbsolute(program) || (await mayRun(program, isMine));
    return isThere ? "found" : "missing";
  }
  const dirs = isMine ? [PATH ?? usualPath] : [PATH ?? "", usualPath];
  const places = dirs.flatMap((dir) => dir.split(delimiter)).filter((dir) => dir !== "");
  const found = await Promise.all(places.map((dir) => mayRun(join(dir, program), isMine)));
  if (found.includes(true)) return "found";
  return isMine ? "missing" : "unlikely";
}

/** A file that this user may not access may be accessible to the run's user. */
async function mayRun(path: string, isMine: boolean): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    return !isMine && hasCode(error, "EACCES");
  }
}
