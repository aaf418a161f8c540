import {
  closeSync,
  existsSync,
  openSync,
  renameSync,
  statSync,
  writeFileSync,
  chmodSync,
  mkdirSync,
} from "node:fs";
import { join } from "node:path";
import { failureOf } from "../errors.ts";

/**
 * Makes the project's state directory `.al` (0700, ignored by git wherever it lies) and `.al/run`, and returns the
 * path of `.al`. Throws Problem `state_dir`.
 */
export function ensureStateDir(projectDir: string): string {
  const dir = join(projectDir, ".al");
  try {
    mkdirSync(join(dir, "run"), { recursive: true, mode: 0o700 });
    chmodSync(dir, 0o700);
    const ignore = join(dir, ".gitignore");
    if (!existsSync(ignore)) writeFileSync(ignore, "*\n");
    return dir;
  } catch (error) {
    throw failureOf(
      "state_dir",
      dir,
      error,
      "make the project directory writable for the user that runs the scheduler",
    );
  }
}

/**
 * Creates an empty file of mode 0600 if it is missing. An existing file is not even opened: closing it would end the
 * locks that SQLite holds on it for this process (POSIX locks belong to the process, not to the open file).
 */
export function createPrivately(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
}

/** Replaces a file of mode 0600 by rename, so that a reader never sees half of it. */
export function replacePrivately(path: string, text: string): void {
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** Null if the file is missing. */
export function inodeOf(path: string): bigint | null {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino ?? null;
}
