import { setTimeout as wait } from "node:timers/promises";
import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import type { DatabaseSync } from "node:sqlite";
import type { SearchPage, SearchQuery } from "./search-report.ts";
import { messageOf } from "../../foundation/errors.ts";
import { logsDir } from "../../foundation/logs/log-files.ts";
import { createIndex, indexPath, isCorrupt, openExisting, openIndex } from "./index-format.ts";
import { createIndexer } from "./indexer.ts";
import { indexProgress } from "./index-progress.ts";
import { searchLogs } from "./search-logs.ts";

/** `names` are those of log files with new lines; null: all may have new lines, or be deleted. */
export type SearchRequest =
  | { readonly type: "index"; readonly names: readonly string[] | null }
  | { readonly type: "search"; readonly query: SearchQuery };

/** `page` is null after a pass of the index; `isCurrent` if all passes before it were done. */
export type SearchAnswer =
  | { readonly type: "done"; readonly page: SearchPage | null; readonly isCurrent: boolean }
  | { readonly type: "failed"; readonly message: string };

/** How long a search waits for passes of the index, in ms. */
const catchUpMs = 2_000;

const { projectDir } = workerData as { readonly projectDir: string };
const path = indexPath(projectDir);
let db: DatabaseSync | null = null;
/** The last pass of the index; a pass waits for the one before. */
let pass: Promise<unknown> = Promise.resolve();

async function index(names: readonly string[] | null): Promise<void> {
  db ??= openIndex(path);
  const dir = logsDir(projectDir);
  const indexer = createIndexer(db, { dir, now: Date.now, isBackground: true });
  await (names === null ? indexer.indexAll() : indexer.indexNew(names));
}

async function indexOrReplace(names: readonly string[] | null): Promise<void> {
  try {
    await index(names);
  } catch (error) {
    db?.close();
    db = null;
    if (!isCorrupt(error)) throw error;
    // Some corruption shows only after the index was opened.
    db = createIndex(path);
    await index(null);
  }
}

/** Opens the index each time, because a pass may replace it. */
async function search(query: SearchQuery): Promise<SearchPage> {
  const index = openExisting(path, { readOnly: true });
  const dir = logsDir(projectDir);
  if (index === null) {
    return { runs: [], next: null, indexedUntil: null, indexing: await indexProgress(null, dir) };
  }
  try {
    const page = searchLogs({ projectDir, db: index }, query);
    if (page.indexedUntil !== null) return page;
    return { ...page, indexing: await indexProgress(index, dir) };
  } finally {
    index.close();
  }
}

async function answer(request: SearchRequest): Promise<SearchAnswer> {
  try {
    if (request.type === "search") {
      const late = wait(catchUpMs, false, { ref: false });
      const isCurrent = await Promise.race([pass.then(() => true).catch(() => false), late]);
      return { type: "done", page: await search(request.query), isCurrent };
    }
    pass = pass.catch(() => null).then(() => indexOrReplace(request.names));
    await pass;
    return { type: "done", page: null, isCurrent: true };
  } catch (error) {
    return { type: "failed", message: messageOf(error) };
  }
}

parentPort?.on("message", ({ request, port }: { request: SearchRequest; port: MessagePort }) => {
  void answer(request).then((result) => port.postMessage(result));
});
