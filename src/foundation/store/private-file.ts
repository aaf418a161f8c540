import { closeSync, existsSync, openSync, renameSync, statSync, writeFileSync } from "node:fs";

/**
 * Makes an empty file of mode 0600 when there is none. One that exists is not even opened: closing it would end the
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
