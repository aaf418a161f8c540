import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { parseLogFileName } from "../../foundation/logs/log-files.ts";
import { readableSize } from "./readable.ts";
import type { Unindexed } from "./scan.ts";

/** What of log files is not indexed, and how many bytes that is. */
export interface Rest {
  readonly parts: readonly Unindexed[];
  readonly bytes: number;
}

/** All parts of log files that an index lacks; without an index, all files. */
export function unindexed(db: DatabaseSync | null, dir: string, firstDay = ""): Rest {
  const rows = db?.prepare("SELECT name, indexed FROM files WHERE day >= ?").all(firstDay) ?? [];
  const indexed = new Map(rows.map((row) => [String(row.name), Number(row.indexed)]));
  const parts: Unindexed[] = [];
  let bytes = 0;
  for (const name of namesIn(dir)) {
    const file = parseLogFileName(name);
    if (file === null || file.date < firstDay) continue;
    const size = readableSize(join(dir, name)) ?? 0;
    const from = indexed.get(name) ?? 0;
    if (size <= from) continue;
    parts.push({ file, from });
    bytes += size - from;
  }
  return { parts, bytes };
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}
