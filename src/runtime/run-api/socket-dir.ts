import { randomBytes } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { stopReasonFile } from "../../foundation/contracts/run-stop.ts";
import type { RunStopReason } from "../../foundation/contracts/run-stop.ts";
import { UserError } from "../../foundation/errors.ts";

/** The socket in a socket's folder, by which the run's user knows it. */
export const socketName = "channel.sock";

/** What a socket's address holds (`sun_path` of unix(7)), without the byte that ends it. */
const longestPath = 107;
/** The run's user enters it and cannot list it. */
const dirMode = 0o711;

/**
 * Makes a folder with an unguessable name, for the socket of one run; its absolute path. Throws a UserError where the
 * socket's path would be too long.
 */
export function makeSocketDir(baseDir: string): string {
  const dir = join(baseDir, randomBytes(16).toString("base64url"));
  const bytes = Buffer.byteLength(join(dir, socketName));
  if (bytes > longestPath) {
    const message = `the socket of a run in ${baseDir} would have a path of ${bytes} bytes`;
    throw new UserError("socket_path_too_long", message, {
      hint: `A socket's path may hold ${longestPath} bytes: use a folder with a shorter path.`,
    });
  }
  mkdirSync(dir);
  return dir;
}

/**
 * The path of the socket in a folder that an earlier scheduler made, without what a crash left there. Throws a
 * UserError when another user owns the folder, as that user could listen there.
 */
export function clearedSocket(dir: string): string {
  mkdirSync(dir, { recursive: true });
  const stat = lstatSync(dir);
  if (!stat.isDirectory() || stat.uid !== process.getuid?.()) {
    throw new UserError("channel_unsafe", `${dir} is not the scheduler's own folder`, {
      hint: "The run continues, and can send no request to the scheduler any more.",
    });
  }
  // Independent of the umask.
  chmodSync(dir, dirMode);
  const path = join(dir, socketName);
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true) rmSync(path);
  return path;
}

/** Writes why a run ends, for the run's user, who may be any other. */
export function writeStopReason(dir: string, reason: RunStopReason): void {
  const path = join(dir, stopReasonFile);
  writeFileSync(path, reason);
  // Independent of the umask.
  chmodSync(path, 0o644);
}

/** The form of the names that `makeSocketDir` gives, so that nothing else is ever removed. */
const dirName = /^[\w-]{22}$/;

/** Removes a socket's folder, off the main thread: a busy disk takes 60 ms. One that is not there is no error. */
export async function removeSocketDir(dir: string): Promise<void> {
  if (dirName.test(basename(dir))) await rm(dir, { recursive: true, force: true });
}
