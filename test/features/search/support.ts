import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LogEntry } from "../../../streams/vocabulary.ts";
import { logFileOf, logsDir } from "../../../src/foundation/logs/log-files.ts";
import { formatLine } from "../../../src/foundation/logs/line-queue.ts";
import { indexPath, openIndex } from "../../../src/features/search/index-format.ts";
import type { SearchPage, SearchQuery } from "../../../src/features/search/search-report.ts";
import { withFreshIndex } from "../../../src/features/search/fresh-index.ts";
import { searchLogs } from "../../../src/features/search/search-logs.ts";
import { createIndexer } from "../../../src/features/search/indexer.ts";

/** Noon of a day, epoch ms. */
export const noon = Date.UTC(2026, 2, 10, 12);
export const dayMs = 86_400_000;

/** A project that has only logs. */
export function logProject() {
  const projectDir = mkdtempSync(join(tmpdir(), "al-search-"));
  const dir = logsDir(projectDir);
  mkdirSync(dir, { recursive: true });
  return {
    projectDir,
    dir,
    /** Appends a line to the file of its agent and day. */
    write: (entry: Partial<LogEntry> & { readonly msg: string }): void => {
      const whole: LogEntry = { level: 30, time: noon, agent: "alpha", ...entry };
      const { name } = logFileOf(whole.agent, whole.time);
      appendFileSync(join(dir, name), formatLine(whole));
    },
    /** Indexes all lines. */
    index: async (sliceBytes?: number): Promise<void> => {
      const db = openIndex(indexPath(projectDir));
      try {
        await createIndexer(db, {
          dir,
          now: () => noon,
          sliceBytes: sliceBytes ?? 65_536,
        }).indexAll();
      } finally {
        db.close();
      }
    },
    remove: () => rmSync(projectDir, { recursive: true, force: true }),
  };
}

/** Searches as `al logs --grep` does. */
export function findIn(
  projectDir: string,
  q: string,
  more: Partial<SearchQuery> = {},
  budgetMs?: number,
): Promise<SearchPage> {
  const query: SearchQuery = Object.assign({ q, order: "newest", limit: 20 }, more);
  return withFreshIndex(projectDir, (db) =>
    searchLogs({ projectDir, db, ...(budgetMs !== undefined && { budgetMs }) }, query),
  );
}

/** The texts of the lines that match, newest first. */
export async function textsFound(projectDir: string, q: string): Promise<string[]> {
  return textsOf(await findIn(projectDir, q));
}

export function textsOf({ runs }: SearchPage): string[] {
  return runs.flatMap(({ matches }) => matches.map(({ text }) => text));
}
