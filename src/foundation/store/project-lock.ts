import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isPlainObject } from "../contracts/json-size.ts";
import { hasCode, Problem } from "../errors.ts";
import { replacePrivately, createPrivately, inodeOf, ensureStateDir } from "./state-dir.ts";
import { DatabaseSync } from "node:sqlite";
import { shellWord } from "../contracts/shell-word.ts";
import { orAside } from "./database.ts";
import { isBusy, isCorrupt, storeError } from "./store-error.ts";

/** How long to wait for another process's brief check of the lock, in ms. */
const lockTimeoutMs = 300;

/**
 * Acquires the project for this process. The lock is the operating system's, on a SQLite file: it ends with the process,
 * so neither a crash nor a reused pid leaves it stale. A damaged file is moved aside: it holds a lock and no data.
 * Throws Problem `project_locked` that names its holder.
 */
export function lockProject(
  projectDir: string,
  info: SchedulerInfo,
  onProblem: (message: string) => void = () => undefined,
) {
  ensureStateDir(projectDir);
  const db = orAside(lockPath(projectDir), () => holdLock(projectDir), isCorrupt, onProblem);
  const announce = (current: SchedulerInfo): void => writeInfo(projectDir, current);
  const own = inodeOf(lockPath(projectDir));
  const isHeld = (): boolean => inodeOf(lockPath(projectDir)) === own;
  const release = (): void => {
    if (!db.isOpen) return;
    // Otherwise the file belongs to another holder.
    if (isHeld()) rmSync(infoPath(projectDir), { force: true });
    db.close();
  };
  try {
    announce(info);
  } catch (error) {
    release();
    throw error;
  }
  return {
    /** Records the holder's address, once it listens. */
    announce,
    /** False once its file was removed: then another process may hold the project, too. */
    isHeld,
    release,
  };
}

export type ProjectLock = ReturnType<typeof lockProject>;

/** The live scheduler of a project; null without one, or if it acquired the project only just now. */
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

/** Checks with a shared lock, which a starting scheduler waits for. */
function isLocked(projectDir: string): boolean {
  const path = lockPath(projectDir);
  if (!existsSync(path)) return false;
  const db = new DatabaseSync(path, { readOnly: true, timeout: 0 });
  try {
    db.prepare("SELECT count(*) FROM sqlite_master").get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    // A scheduler that held the lock would have opened the file before it was damaged.
    if (isCorrupt(error)) return false;
    throw storeError(path, error);
  } finally {
    db.close();
  }
}

function lockedError(projectDir: string): Problem {
  const info = readInfo(projectDir);
  const where = info?.gatewayUrl ? ` at ${info.gatewayUrl}` : "";
  return new Problem(
    "project_locked",
    info === null
      ? `another scheduler of ${projectDir} is just starting or stopping`
      : `already running (pid ${info.pid})${where}`,
    `Stop it with \`al stop --project ${shellWord(projectDir)}\`.`,
  );
}

/** The scheduler that holds a project, in `.al/run/scheduler.json`. Paths and URLs are null until it listens. */
export interface SchedulerInfo {
  readonly pid: number;
  /** ISO 8601 UTC. */
  readonly startedAt: string;
  /** The socket of the operator API. */
  readonly socketPath: string | null;
  readonly gatewayUrl: string | null;
  readonly version: string;
}

/** Written without zod, which a short command such as `al stat` would load only for this. */
function isSchedulerInfo(value: unknown): value is SchedulerInfo {
  if (!isPlainObject(value)) return false;
  const { pid, startedAt, version, socketPath, gatewayUrl } = value;
  const texts = [startedAt, version, socketPath ?? "", gatewayUrl ?? ""];
  if (!texts.every((text) => typeof text === "string")) return false;
  return Number.isInteger(pid) && !Number.isNaN(Date.parse(String(startedAt)));
}

/** The file in which a project's scheduler records its addresses. */
export function infoPath(projectDir: string): string {
  return join(projectDir, ".al", "run", "scheduler.json");
}

/** Records the holder of a project; only the holder of its lock may. */
function writeInfo(projectDir: string, info: SchedulerInfo): void {
  replacePrivately(infoPath(projectDir), `${JSON.stringify(info, null, 2)}\n`);
}

/** The last recorded holder of a project, if it still lives; null if that is unknown. */
function readInfo(projectDir: string): SchedulerInfo | null {
  if (!existsSync(infoPath(projectDir))) return null;
  try {
    const info: unknown = JSON.parse(readFileSync(infoPath(projectDir), "utf8"));
    // The file of a dead scheduler exists until the next one, which already holds the lock, writes its own.
    return isSchedulerInfo(info) && isAlive(info.pid) ? info : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives and belongs to another user.
    return hasCode(error, "EPERM");
  }
}
