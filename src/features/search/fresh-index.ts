import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { logsDir } from "../../foundation/logs/log-files.ts";
import { indexPath, isCorrupt, openExisting, openIndex } from "./index-format.ts";
import { createIndexer } from "./indexer.ts";
import { filesWithIndexed } from "./index-progress.ts";

/**
 * Calls `use` with an index of all lines, in a process other than the scheduler, which may run or not. Lines that the
 * project's index lacks are added to it. Without an index, or if it can't be written or has another format, a temporary
 * one is used: a scheduler could not write an index that another OS user created.
 */
export async function withFreshIndex<T>(
  projectDir: string,
  use: (db: DatabaseSync) => T,
): Promise<T> {
  const own = openToRead(indexPath(projectDir));
  try {
    if (own !== null && (await isUpdated(own, indexPath(projectDir), projectDir))) return use(own);
    return await withTemporaryIndex(projectDir, own, use);
  } finally {
    own?.close();
  }
}

function openToRead(path: string): DatabaseSync | null {
  try {
    return openExisting(path, { readOnly: true });
  } catch (error) {
    if (isCorrupt(error)) return null;
    throw error;
  }
}

/** False if the index lacks lines and can't be written. */
async function isUpdated(own: DatabaseSync, path: string, projectDir: string): Promise<boolean> {
  if ((await unindexed(own, projectDir)).length === 0) return true;
  try {
    const db = openExisting(path);
    if (db === null) return false;
    await update(db, projectDir).finally(() => db.close());
    return true;
  } catch {
    return false;
  }
}

async function withTemporaryIndex<T>(
  projectDir: string,
  own: DatabaseSync | null,
  use: (db: DatabaseSync) => T,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "al-search-"));
  const path = join(folder, "search.db");
  try {
    own?.prepare("VACUUM INTO ?").run(path);
    const db = openIndex(path);
    try {
      await update(db, projectDir);
      return use(db);
    } finally {
      db.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function update(db: DatabaseSync, projectDir: string): Promise<void> {
  const indexer = createIndexer(db, { dir: logsDir(projectDir), now: Date.now });
  await indexer.indexNew(await unindexed(db, projectDir));
}

/** The names of the log files with lines that the index lacks. */
async function unindexed(db: DatabaseSync, projectDir: string): Promise<string[]> {
  const files = await filesWithIndexed(db, logsDir(projectDir));
  return files.filter(({ bytes, indexed }) => bytes > indexed).map(({ name }) => name);
}
