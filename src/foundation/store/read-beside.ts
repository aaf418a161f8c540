import { existsSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { openToRead } from "./open-to-read.ts";

/**
 * What is read from a project's database beside a scheduler or without one. Changes nothing. `none` where there is no
 * database, and for one that can't be read: what opens it to write reports that.
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
