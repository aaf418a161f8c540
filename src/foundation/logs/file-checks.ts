import { statSync } from "node:fs";
import { join } from "node:path";
import { defer, exhaustMap, map, mergeMap, of, type Observable } from "rxjs";
import { listLogFiles, logFileOf, parseLogFileName, utcDate, type LogFile } from "./log-files.ts";
import { statOf } from "./log-position.ts";

/** The status of a log file; a missing file has inode 0 and no bytes. */
export interface FileCheck {
  readonly file: LogFile;
  readonly inode: number;
  readonly size: number;
}

interface CheckDeps {
  readonly dir: string;
  readonly tick$: Observable<unknown>;
  /** Epoch ms. */
  readonly now: () => number;
}

const dayMs = 86_400_000;
/** A directory that changed this recently, in ms, may change again without a new time stamp. */
const stampStepMs = 2_000;

/** The first UTC date whose files may still get lines: yesterday's may around midnight. */
export function firstOpenDate(now: number): string {
  return utcDate(now - dayMs);
}

/**
 * At each tick, the size of each file that may still get lines of an agent (null: of all agents), oldest first. Sizes
 * are emitted in the turn in which they were read. Errors when a file can't be checked.
 */
export function fileChecks(
  agent: string | null,
  { dir, tick$, now }: CheckDeps,
): Observable<FileCheck> {
  return defer(() => {
    const allFiles = openFilesOf(dir);
    return tick$.pipe(
      exhaustMap(() => (agent === null ? allFiles(now()) : of(openFiles(agent, now())))),
      mergeMap((files) => files),
      map((file) => checkOf(dir, file)),
    );
  });
}

/** The open files of one agent, which need not exist; empty for an invalid agent name. */
function openFiles(agent: string, now: number): readonly LogFile[] {
  const files = [logFileOf(agent, now - dayMs), logFileOf(agent, now)];
  return files.filter(({ name }) => parseLogFileName(name) !== null);
}

/** The open files of all agents, those that were deleted included. Lists the directory only when it has changed. */
function openFilesOf(dir: string): (now: number) => Promise<readonly LogFile[]> {
  const known = new Map<string, LogFile>();
  let listedAt = -Infinity;
  return async (now) => {
    const startedAt = Date.now();
    const found = await statOf(dir);
    if (found !== null && found.mtimeMs + stampStepMs >= listedAt) {
      for (const file of await listLogFiles(dir, null)) known.set(file.name, file);
      listedAt = startedAt;
    }
    for (const { name, date } of known.values()) if (date < firstOpenDate(now)) known.delete(name);
    return [...known.values()];
  };
}

function checkOf(dir: string, file: LogFile): FileCheck {
  const found = statSync(join(dir, file.name), { throwIfNoEntry: false });
  return { file, inode: found?.ino ?? 0, size: found?.size ?? 0 };
}
