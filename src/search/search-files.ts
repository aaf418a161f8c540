import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { SearchPage, SearchQuery } from "../contracts/search.ts";
import { logsDir, parseLogFileName, utcDate } from "../logs/log-files.ts";
import { findPage } from "./find-page.ts";
import { indexPath, openIndexToRead } from "./index-format.ts";
import { openRunFacts } from "./run-facts.ts";

const dayMs = 86_400_000;
const usualBudgetMs = 100;

/**
 * Searches the logs of a project by their index, beside the scheduler that writes it or without one; null where there is
 * none. Changes nothing. Throws UserError `bad_search` or `bad_cursor`.
 */
export function searchIndex(
  projectDir: string,
  query: SearchQuery,
  budgetMs = usualBudgetMs,
): SearchPage | null {
  const db = openIndexToRead(indexPath(projectDir));
  if (db === null) return null;
  const facts = openRunFacts(projectDir);
  try {
    // What a page says is of one moment, though days go and lines come meanwhile.
    db.exec("BEGIN");
    const dir = logsDir(projectDir);
    const { runs, next } = findPage({ db, dir, facts, budgetMs }, query);
    return { runs, next, indexedUntil: indexedUntil(db, dir) };
  } finally {
    facts.close();
    db.close();
  }
}

/** Lines until then are found: until now, when all files that may still grow are indexed to their ends. */
function indexedUntil(db: DatabaseSync, dir: string): string | null {
  const pass = db.prepare("SELECT at FROM passes").get();
  if (pass === undefined) return null;
  const now = Date.now();
  const isBehind = readdirSync(dir).some((name) => {
    const file = parseLogFileName(name);
    if (file === null || file.date < utcDate(now - dayMs)) return false;
    const row = db.prepare("SELECT indexed FROM files WHERE name = ?").get(name);
    return statSync(join(dir, name), { throwIfNoEntry: false })?.size !== Number(row?.indexed ?? 0);
  });
  return new Date(isBehind ? Number(pass.at) : now).toISOString();
}
