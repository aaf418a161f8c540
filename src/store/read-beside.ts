import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";

/**
 * What is read from a project's database beside a scheduler or without one. Changes nothing. `none` where there is no
 * database, and for one that can't be read: what opens it to write reports that.
 */
export function readBeside<T>(projectDir: string, read: (db: DatabaseSync) => T, none: T): T {
  const path = join(projectDir, ".al", "state.db");
  if (!existsSync(path)) return none;
  const url = pathToFileURL(path);
  // Without a log of its own to read, an ordinary reader would make one beside it.
  if (!existsSync(`${path}-wal`)) url.searchParams.set("immutable", "1");
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(url, { readOnly: true });
    return read(db);
  } catch {
    return none;
  } finally {
    db?.close();
  }
}
