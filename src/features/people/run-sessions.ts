import type { DatabaseSync } from "node:sqlite";
import { gunzipSync, gzipSync } from "node:zlib";
import type { GroupCommit } from "../../foundation/store/group-commit.ts";

/** A part of a kept session: whole entries, one JSON document a line. */
export interface SessionPart {
  readonly part: number;
  readonly isLast: boolean;
  readonly entries: string;
}

/** Reads and writes `run_sessions`: the sessions of ended runs, in parts. */
export function createRunSessions(db: DatabaseSync, { write }: GroupCommit) {
  const replace = db.prepare(
    "INSERT OR REPLACE INTO run_sessions (instance_id, at, part, is_last, entries) VALUES (?, ?, ?, ?, ?)",
  );
  const find = db.prepare(
    "SELECT is_last, entries FROM run_sessions WHERE instance_id = ? AND part = ?",
  );
  // Parts arrive in their order, each after the commit of the one before; retention deletes the first ones first.
  const whole = db.prepare(
    "SELECT min(part) = 0 AND max(is_last) = 1 AS isWhole FROM run_sessions WHERE instance_id = ?",
  );
  return {
    /** Resolves once it is committed; a repeated part replaces the first. */
    add: (instanceId: string, { part, isLast, entries }: SessionPart, at: number) => {
      const bytes = gzipSync(entries);
      return write(() => void replace.run(instanceId, at, part, Number(isLast), bytes));
    },
    /** Null if it is not stored. */
    part: (instanceId: string, part: number): SessionPart | null => {
      const row = find.get(instanceId, part);
      if (row === undefined) return null;
      const entries = gunzipSync(row.entries as Uint8Array).toString("utf8");
      return { part, isLast: row.is_last === 1, entries };
    },
    /** Whether all parts of the run's session are stored. */
    isWhole: (instanceId: string): boolean => whole.get(instanceId)?.isWhole === 1,
  };
}

export type RunSessions = ReturnType<typeof createRunSessions>;
