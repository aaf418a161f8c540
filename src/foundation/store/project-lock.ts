import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { shellWord } from "../contracts/shell-word.ts";
import { UserError } from "../errors.ts";
import { orAside } from "./database-files.ts";
import { createPrivately, inodeOf } from "./private-file.ts";
import { infoPath, readInfo, writeInfo } from "./scheduler-info.ts";
import type { SchedulerInfo } from "./scheduler-info.ts";
import { ensureStateDir } from "./state-dir.ts";
import { isBusy, isCorrupt, storeError } from "./store-error.ts";

/** Held by the one scheduler of a project until it is released or its process ends, however it ends. */
export interface ProjectLock {
  /** Records where the holder is reached, once it listens. */
  announce(info: SchedulerInfo): void;
  /** False once its file was removed: then another process may hold the project, too. */
  isHeld(): boolean;
  release(): void;
}

/** Long enough for another process's momentary look at the lock to pass, in ms. */
const lockTimeoutMs = 300;

/**
 * Takes the project for this process. The lock is the operating system's, on a SQLite file: it ends with the
 * process, so neither a crash nor a pid that is used again leaves it stale. A damaged file is put aside: it holds a lock
 * and no data. Throws UserError `project_locked` that names its holder.
 */
export function lockProject(
  projectDir: string,
  info: SchedulerInfo,
  onProblem: (message: string) => void = () => undefined,
): ProjectLock {
  ensureStateDir(projectDir);
  const db = orAside(lockPath(projectDir), () => holdLock(projectDir), isCorrupt, onProblem);
  const announce = (current: SchedulerInfo): void => writeInfo(projectDir, current);
  const own = inodeOf(lockPath(projectDir));
  const isHeld = (): boolean => inodeOf(lockPath(projectDir)) === own;
  const release = (): void => {
    if (!db.isOpen) return;
    // Else the file is another holder's.
    if (isHeld()) rmSync(infoPath(projectDir), { force: true });
    db.close();
  };
  try {
    announce(info);
  } catch (error) {
    release();
    throw error;
  }
  return { announce, isHeld, release };
}

/** The living scheduler of a project; null when none holds it, or it holds it only since this moment. */
export function readSchedulerInfo(projectDir: string): SchedulerInfo | null {
  return isLocked(projectDir) ? readInfo(projectDir) : null;
}

function lockPath(projectDir: string): string {
  return join(projectDir, ".al", "run", "lock.db");
}

function holdLock(projectDir: string): DatabaseSync {
  const path = lockPath(projectDir);
  let db: DatabaseSync | undefined;
  try {
    createPrivately(path);
    db = new DatabaseSync(path, { timeout: lockTimeoutMs });
    db.exec("BEGIN EXCLUSIVE");
    return db;
  } catch (error) {
    db?.close();
    throw isBusy(error) ? lockedError(projectDir) : storeError(path, error);
  }
}

/** Looks with a shared lock, which a scheduler that starts at this moment waits out. */
function isLocked(projectDir: string): boolean {
  const path = lockPath(projectDir);
  if (!existsSync(path)) return false;
  const db = new DatabaseSync(path, { readOnly: true, timeout: 0 });
  try {
    db.prepare("SELECT count(*) FROM sqlite_master").get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    // A scheduler that held it would have been met before its damage.
    if (isCorrupt(error)) return false;
    throw storeError(path, error);
  } finally {
    db.close();
  }
}

function lockedError(projectDir: string): UserError {
  const info = readInfo(projectDir);
  const who =
    info === null
      ? "another scheduler that is just starting or stopping"
      : `the scheduler with pid ${info.pid}, since ${info.startedAt}` +
        (info.gatewayUrl === null ? "" : `, at ${info.gatewayUrl}`);
  return new UserError("project_locked", `${projectDir} is held by ${who}`, {
    hint: `stop it with: al stop --project ${shellWord(projectDir)}`,
  });
}
