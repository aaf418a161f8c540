import type { StopReason } from "../../../streams/outcomes.ts";
import { randomBytes, createHash, timingSafeEqual } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { stopReasonFile } from "../wire/run-stop.ts";
import { Problem } from "../../foundation/errors.ts";

/** File name of the socket in its folder. */
export const socketName = "channel.sock";

/** Maximum length of a socket's path in bytes (`sun_path` of unix(7)), without the terminating byte. */
const longestPath = 107;
/** The run's user can enter the folder but not list it. */
const dirMode = 0o711;

/**
 * Creates a folder with an unguessable name for the socket of one run, and returns its absolute path. Throws a
 * Problem if the socket's path would be too long.
 */
export function makeSocketDir(baseDir: string): string {
  const dir = join(baseDir, randomBytes(16).toString("base64url"));
  const bytes = Buffer.byteLength(join(dir, socketName));
  if (bytes > longestPath) {
    throw new Problem(
      "socket_path_too_long",
      `the socket of a run in ${baseDir} would have a path of ${bytes} bytes`,
      `A socket's path may have ${longestPath} bytes: use a folder with a shorter path.`,
    );
  }
  mkdirSync(dir);
  return dir;
}

/**
 * The path of the socket in a folder that an earlier scheduler created; removes a leftover socket. Throws a Problem
 * if another user owns the folder, because that user could listen there.
 */
export function clearedSocket(dir: string): string {
  mkdirSync(dir, { recursive: true });
  const stat = lstatSync(dir);
  if (!stat.isDirectory() || stat.uid !== process.getuid?.()) {
    throw new Problem(
      "channel_unsafe",
      `${dir} is not the scheduler's own folder`,
      "The run continues, but can no longer send requests to the scheduler.",
    );
  }
  // Independent of the umask.
  chmodSync(dir, dirMode);
  const path = join(dir, socketName);
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true) rmSync(path);
  return path;
}

/** Writes why a run ends, readable by any user, because the run may belong to another one. */
export function writeStopReason(dir: string, reason: StopReason): void {
  const path = join(dir, stopReasonFile);
  writeFileSync(path, reason);
  // Independent of the umask.
  chmodSync(path, 0o644);
}

/** Matches names that `makeSocketDir` creates; other folders are never removed. */
const dirName = /^[\w-]{22}$/;

/** Removes a socket's folder, off the main thread: a busy disk takes 60 ms. A missing folder is not an error. */
export async function removeSocketDir(dir: string): Promise<void> {
  if (dirName.test(basename(dir))) await rm(dir, { recursive: true, force: true });
}

/** An unguessable token for one run: 256 bits, as base64url. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

/** The stored hash of a token: SHA-256, as hex. */
export function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

/**
 * Whether an `Authorization` header carries the token with this hash, compared in constant time. False if the hash is
 * null.
 */
export function carriesToken(authorization: string | undefined, tokenHash: string | null): boolean {
  const [, token] = /^Bearer ([\w-]{1,200})$/i.exec(authorization ?? "") ?? [];
  if (token === undefined || tokenHash === null) return false;
  return timingSafeEqual(Buffer.from(hashOf(token), "hex"), Buffer.from(tokenHash, "hex"));
}
