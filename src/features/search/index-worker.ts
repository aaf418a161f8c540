import { parentPort, workerData } from "node:worker_threads";
import type { DatabaseSync } from "node:sqlite";
import { messageOf } from "../../foundation/errors.ts";
import { logsDir } from "../../foundation/logs/log-files.ts";
import { indexPath, isBroken, openIndex } from "./index-format.ts";
import { createIndexer } from "./indexer.ts";

/** Names of log files with new lines; null: all may have them, or be gone. */
export interface IndexRequest {
  readonly names: readonly string[] | null;
}

/** Null: done. */
export interface IndexAnswer {
  readonly problem: string | null;
}

const { projectDir } = workerData as { readonly projectDir: string };
let db: DatabaseSync | null = null;

async function index(names: readonly string[] | null): Promise<void> {
  db ??= openIndex(indexPath(projectDir));
  const indexer = createIndexer(db, { dir: logsDir(projectDir), now: Date.now });
  await (names === null ? indexer.indexAll() : indexer.indexNew(names));
}

async function indexOrReplace({ names }: IndexRequest): Promise<void> {
  try {
    await index(names);
  } catch (error) {
    db?.close();
    db = null;
    if (!isBroken(error)) throw error;
    // Opening may not show that it is broken, and this does.
    db = openIndex(indexPath(projectDir), { isNew: true });
    await index(null);
  }
}

parentPort?.on("message", (request: IndexRequest) => {
  const answer = (problem: string | null): void =>
    parentPort?.postMessage({ problem } satisfies IndexAnswer);
  indexOrReplace(request).then(
    () => answer(null),
    (error: unknown) => answer(messageOf(error)),
  );
});
