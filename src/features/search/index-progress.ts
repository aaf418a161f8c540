import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { listLogFiles } from "../../foundation/logs/log-files.ts";
import { readableSize } from "./log-cursor.ts";
import type { SearchIndexing } from "./search-report.ts";

/** All log files with their sizes and how much of them is indexed, in bytes; without an index nothing is. */
export async function filesWithIndexed(db: DatabaseSync | null, dir: string) {
  const rows = db?.prepare("SELECT name, indexed FROM files").all() ?? [];
  const known = new Map(rows.map((row) => [String(row.name), Number(row.indexed)]));
  const files = await listLogFiles(dir, null);
  return files.map(({ name, date }) => ({
    name,
    date,
    bytes: readableSize(join(dir, name)) ?? 0,
    indexed: known.get(name) ?? 0,
  }));
}

/** How far the first pass over all log files is. */
export async function indexProgress(db: DatabaseSync | null, dir: string): Promise<SearchIndexing> {
  const files = await filesWithIndexed(db, dir);
  const sum = (key: "bytes" | "indexed"): number =>
    files.reduce((total, file) => total + Math.min(file[key], file.bytes), 0);
  const days = [...Map.groupBy(files, ({ date }) => date).values()];
  const done = days.filter((ofDay) => ofDay.every(({ bytes, indexed }) => indexed >= bytes));
  const bytes = sum("bytes");
  const percent = bytes === 0 ? 0 : Math.floor((100 * sum("indexed")) / bytes);
  return { percent, daysDone: done.length, days: days.length };
}
