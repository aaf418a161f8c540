import type { FeatureTables } from "../../foundation/store/feature-tables.ts";
import { openTriggers } from "../../foundation/store/trigger-rows.ts";

/**
 * `sessions` holds the session of each run, and of the runs of one session key only the latest: `files` is a JSON list of
 * paths and blobs. It is `pending` until the end of its run is recorded. A `removed` row stands for a live run whose session a
 * person removed. `until` is when a session with a key is no longer kept.
 */
export const sessionTables: FeatureTables = {
  steps: [
    "",
    "",
    "",
    "",
    `CREATE TABLE sessions (
      seq INTEGER PRIMARY KEY,
      instance_id TEXT NOT NULL UNIQUE,
      at INTEGER NOT NULL,
      agent TEXT NOT NULL,
      key TEXT,
      until INTEGER,
      program TEXT NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('pending', 'kept', 'removed')),
      files TEXT NOT NULL
    ) STRICT;
    CREATE INDEX sessions_by_time ON sessions (at);
    CREATE INDEX sessions_by_key ON sessions (agent, key, at) WHERE key IS NOT NULL;`,
  ],
  growing: [{ table: "sessions", batch: 100, where: "+state = 'kept'" }],
  outdated: "DELETE FROM sessions WHERE until < ? AND state = 'kept'",
  // A run without a recorded end is tried again, from the session before it.
  recover: (db) =>
    db.exec(
      `DELETE FROM sessions WHERE state <> 'kept' AND instance_id NOT IN
         (SELECT instance_id FROM ${openTriggers} AND instance_id IS NOT NULL)`,
    ),
  blobs: "SELECT file.value ->> '$.hash' FROM sessions, json_each(files) AS file",
};
