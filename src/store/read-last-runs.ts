import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import type { AgentRuns } from "../contracts/spend.ts";
import { createSpendReport } from "./spend-report.ts";

/**
 * What the last runs of each agent cost and how many are triggered, read beside a scheduler or without one. Changes nothing.
 * Empty where no run is on record, and for a database that can't be read: who opens it to write reports that.
 */
export function readLastRuns(projectDir: string, limit: number): ReadonlyMap<string, AgentRuns> {
  const path = join(projectDir, ".al", "state.db");
  if (!existsSync(path)) return new Map();
  const url = pathToFileURL(path);
  // Without a log of its own to read, an ordinary reader would make one beside it.
  if (!existsSync(`${path}-wal`)) url.searchParams.set("immutable", "1");
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(url, { readOnly: true });
    return createSpendReport(db).lastRuns(limit);
  } catch {
    return new Map();
  } finally {
    db?.close();
  }
}
