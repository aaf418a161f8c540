import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";

/**
 * Reads a project's database beside a scheduler or without one. Changes nothing. Returns `none` if the database is
 * missing or can't be read: opening it for writing reports the error.
 */
export function readBeside<T>(projectDir: string, read: (db: DatabaseSync) => T, none: T): T {
  const path = join(projectDir, ".al", "state.db");
  if (!existsSync(path)) return none;
  let db: DatabaseSync | null = null;
  try {
    db = openToRead(path);
    return read(db);
  } catch {
    return none;
  } finally {
    db?.close();
  }
}

/** Opens a database beside the scheduler that writes it, or without one. Changes nothing, and creates no file. */
export function openToRead(path: string): DatabaseSync {
  const url = pathToFileURL(path);
  // An ordinary reader would create a missing write-ahead log.
  if (!existsSync(`${path}-wal`)) url.searchParams.set("immutable", "1");
  return new DatabaseSync(url, { readOnly: true });
}

/** The names of a history entry. `at` is epoch ms. */
export interface RecentEntry {
  readonly id: string;
  readonly at: number;
  readonly agent: string | null;
  readonly receiptId: string | null;
  readonly instanceId: string | null;
  readonly outcome: string | null;
}

/** The latest entries, newest first; empty if the store is missing. */
export function readRecentEntries(projectDir: string, limit: number): readonly RecentEntry[] {
  const none: readonly RecentEntry[] = [];
  return readBeside(
    projectDir,
    (db) =>
      db
        .prepare(
          `SELECT id, at, agent, receipt_id AS receiptId, instance_id AS instanceId, outcome
             FROM triggers ORDER BY seq DESC LIMIT ?`,
        )
        .all(limit) as unknown as readonly RecentEntry[],
    none,
  );
}

/** How long the last scheduled runs that succeeded used a slot on average, in ms, by agent. Empty if the store is missing. */
export function readTickTimes(
  projectDir: string,
  agents: readonly string[],
  limit: number,
): ReadonlyMap<string, number> {
  const read = (db: DatabaseSync): Map<string, number> => {
    const select = db.prepare(
      `SELECT avg(ms) AS ms FROM (SELECT ended_at - started_at - waited_ms AS ms FROM triggers
       WHERE agent = ? AND class = 'cron/succeeded/0' ORDER BY at DESC LIMIT ?)`,
    );
    return new Map(agents.map((agent) => [agent, Number(select.get(agent, limit)?.ms)]));
  };
  return readBeside(projectDir, read, new Map<string, number>());
}
