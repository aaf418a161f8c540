import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { storeError } from "./store-error.ts";

/**
 * The agents that a person disabled, read beside a scheduler that may be running; none when the project has no store
 * yet. Throws UserError `store_unavailable` or `store_corrupt`.
 */
export function readDisabledAgents(projectDir: string): ReadonlySet<string> {
  const path = join(projectDir, ".al", "state.db");
  if (!existsSync(path)) return new Set();
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
    const rows = db.prepare("SELECT agent FROM disabled_agents").all();
    return new Set(rows.map((row) => String(row.agent)));
  } catch (error) {
    throw storeError(path, error);
  } finally {
    db?.close();
  }
}
