import type { Stats } from "node:fs";
import { chmod, lstat, mkdir, statfs } from "node:fs/promises";
import { join } from "node:path";
import { shellWord } from "../../../foundation/contracts/shell-word.ts";
import { Problem } from "../../../foundation/errors.ts";

const privateMode = 0o700;
/** Like /tmp, but other users may not list it: each user may create entries, and remove its own. */
const sharedMode = 0o1733;
/** The bits of `sharedMode` that let other users create entries, but not remove those of each other. */
const stickyForAll = 0o1003;

/** The command by which root shares the folder of runs with all users of the machine. */
export function shareBaseDir(baseDir: string): string {
  return `install -d -o root -m 1777 ${shellWord(baseDir)}`;
}

/**
 * Why runs can't work in `baseDir`; null if they can: it is this user's own folder, or shared by root like /tmp. Any
 * other owner could swap its contents.
 */
export function whyUnsafe(base: Stats, uid = process.getuid?.()): string | null {
  if (!base.isDirectory()) return "is not a folder";
  if (base.uid === uid || isForAll(base)) return null;
  return base.uid === 0 ? "belongs to root alone" : `belongs to another OS user (id ${base.uid})`;
}

function isForAll({ uid, mode }: Stats): boolean {
  return uid === 0 && (mode & stickyForAll) === stickyForAll;
}

/**
 * Creates the folder of all runs, `/tmp/al-runs`; with `shared` other users may create their working directories in it.
 * Throws a Problem `run_folder_unsafe` if it belongs to another user or is a link.
 */
export async function ownBaseDir(baseDir: string, shared: boolean): Promise<void> {
  await mkdir(baseDir, { recursive: true, mode: privateMode });
  const base = await lstat(baseDir);
  const why = whyUnsafe(base);
  if (why !== null) {
    throw new Problem(
      "run_folder_unsafe",
      `${baseDir} ${why}, so no run can work in it`,
      base.isDirectory()
        ? `Let all users of this machine share it: sudo ${shareBaseDir(baseDir)}`
        : `Remove it: sudo rm ${shellWord(baseDir)}`,
    );
  }
  if (shared && (base.mode & stickyForAll) !== stickyForAll) await chmod(baseDir, sharedMode);
}

/** Minimum of free bytes and files: a run needs a folder, its log and its files before its agent can start. */
const leastBytes = 256 * 1024;
const leastFiles = 64;

/** Throws the system's error if a run that starts now would find no space left. */
export async function assertRoom(baseDir: string): Promise<void> {
  const { blocks, bavail, bsize, files, ffree } = await statfs(baseDir);
  // Some file systems have no limit, or report no number of files.
  const hasBytes = blocks === 0 || bavail * bsize >= leastBytes;
  if (hasBytes && (files === 0 || ffree >= leastFiles)) return;
  const path = join(baseDir, "run");
  throw Object.assign(new Error(`ENOSPC: no space left, '${path}'`), { code: "ENOSPC", path });
}
