import { chmod, lstat, mkdir } from "node:fs/promises";
import { UserError } from "../../errors.ts";

const privateMode = 0o700;
/** As /tmp, but nobody else may list it: each user makes, and may remove, what is its own. */
const sharedMode = 0o1733;

/**
 * Makes the folder of all runs, `/tmp/al-runs`; with `shared` other users may make their working directories in
 * it. Throws a UserError when it is somebody else's or a link: whoever owns it could swap what is in it.
 */
export async function ownBaseDir(baseDir: string, shared: boolean): Promise<void> {
  await mkdir(baseDir, { recursive: true, mode: privateMode });
  const base = await lstat(baseDir);
  if (!base.isDirectory() || base.uid !== process.getuid?.()) {
    const what = base.isDirectory() ? `belongs to user id ${base.uid}` : "is not a folder";
    throw new UserError("run_folder_unsafe", `${baseDir} ${what}, so no run can work in it`, {
      hint: `Remove ${baseDir}, or give it to the user that runs the scheduler.`,
    });
  }
  if (shared && (base.mode & 0o7777) !== sharedMode) await chmod(baseDir, sharedMode);
}
