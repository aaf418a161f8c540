import type { DatabaseSync } from "node:sqlite";
import type { RunContent, RunVersion } from "../contracts/run-version.ts";

/** Reads and writes what runs ran, each content once, inside the caller's transaction. */
export function prepareContents(db: DatabaseSync) {
  const find = db.prepare("SELECT content FROM run_contents WHERE hash = ?");
  // Most runs run what the one before them ran: the text is passed to SQLite only when it is new.
  const isStored = db.prepare("SELECT 1 FROM run_contents WHERE hash = ?");
  const insert = db.prepare("INSERT INTO run_contents VALUES (?, ?)");
  return {
    add: ({ hash, content }: RunVersion): void => {
      if (isStored.get(hash) === undefined) insert.run(hash, JSON.stringify(content));
    },
    /** Undefined for one that is not stored. */
    find: (hash: string): RunContent | undefined => {
      const row = find.get(hash);
      return row && (JSON.parse(String(row.content)) as RunContent);
    },
  };
}
