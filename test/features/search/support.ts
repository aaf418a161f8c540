import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { tempDir } from "../../helpers/temp-dir.ts";
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

/** A project that has only logs, until the test ends. */
export function logProject() {
  const projectDir = tempDir();
  const dir = logsDir(projectDir);
  mkdirSync(dir, { recursive: true });
  return {
    projectDir,
    dir,
    /** Appends a line to the file of its agent and day. */
    write: (msg: string, more: Partial<LogEntry> = {}) => {
      const whole: LogEntry = { level: 30, time: noon, agent: "alpha", msg, ...more };
      const { name } = logFileOf(whole.agent, whole.time);
      appendFileSync(join(dir, name), formatLine(whole));
    },
    /** Indexes all lines. */
    index: (sliceBytes = 65_536): Promise<void> =>
      indexing(projectDir, (indexer) => indexer.indexAll(), { sliceBytes }),
    find: (q: string, more?: Partial<SearchQuery>) => findIn(projectDir, q, more),
    /** The texts of the lines that match, newest first. */
    texts: async (q: string, more?: Partial<SearchQuery>) =>
      textsOf(await findIn(projectDir, q, more)),
    /** The first row of a query on the index itself. */
    inIndex: (sql: string, ...values: readonly string[]): unknown => {
      const db = new DatabaseSync(indexPath(projectDir));
      try {
        return db.prepare(sql).get(...values);
      } finally {
        db.close();
      }
    },
  };
}

/** Opens the index of a project for work of an indexer. */
export async function indexing(
  projectDir: string,
  work: (indexer: ReturnType<typeof createIndexer>) => Promise<unknown>,
  options: Partial<Parameters<typeof createIndexer>[1]> = {},
): Promise<void> {
  const db = openIndex(indexPath(projectDir));
  try {
    await work(createIndexer(db, { dir: logsDir(projectDir), now: () => noon, ...options }));
  } finally {
    db.close();
  }
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

function textsOf({ runs }: SearchPage): string[] {
  return runs.flatMap(({ matches }) => matches.map(({ text }) => text));
}
