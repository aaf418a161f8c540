import type { DatabaseSync } from "node:sqlite";
import type { FeatureTables } from "../../foundation/store/feature-tables.ts";
import { openTriggers } from "../../foundation/store/trigger-rows.ts";

/** Rows that may refer to a version, with its condition. */
const isUsed = (table: string) =>
  `EXISTS (SELECT 1 FROM ${table} AS used WHERE used.name = memory_versions.name AND base = n`;
/** A version that is neither the latest one, nor what a live run received, nor the base of an open proposal. */
export const isOldVersion = `n < (SELECT max(later.n) FROM memory_versions AS later WHERE later.name = memory_versions.name)
  AND NOT ${isUsed("memory_runs")}) AND NOT ${isUsed("memory_proposals")} AND state = 'open')`;

/**
 * `memory_versions` holds all versions, `memory_runs` for each live run the version that it received and, once it has sent
 * them, its files: they become a version in the transaction that records its end. `refused` is the run's own reason not to
 * keep its files, `problem` that of the upload. `is_over`: later runs are not told, as one of them
 * left files that may be kept, or the run was untrusted. `memory_seen` holds the ids of `al-seen`.
 */
export const memoryTables: FeatureTables = {
  steps: [
    "",
    "",
    "",
    "",
    `CREATE TABLE memory_versions (
      seq INTEGER PRIMARY KEY,
      name TEXT NOT NULL,
      n INTEGER NOT NULL,
      at INTEGER NOT NULL,
      instance_id TEXT,
      person TEXT,
      files TEXT NOT NULL,
      conflicts TEXT NOT NULL,
      UNIQUE (name, n)
    ) STRICT;
    CREATE INDEX memory_versions_by_time ON memory_versions (at);
    CREATE INDEX memory_versions_by_run ON memory_versions (instance_id) WHERE instance_id IS NOT NULL;
    CREATE TABLE memory_runs (
      instance_id TEXT NOT NULL,
      name TEXT NOT NULL,
      base INTEGER NOT NULL,
      may_write INTEGER NOT NULL,
      untrusted TEXT NOT NULL,
      trusted TEXT NOT NULL,
      files TEXT,
      refused TEXT,
      problem TEXT,
      PRIMARY KEY (instance_id, name)
    ) WITHOUT ROWID, STRICT;
    CREATE TABLE memory_proposals (
      seq INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      at INTEGER NOT NULL,
      name TEXT NOT NULL,
      agent TEXT NOT NULL,
      instance_id TEXT NOT NULL,
      base INTEGER NOT NULL,
      files TEXT NOT NULL,
      state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'allowed', 'denied')),
      decided_at INTEGER,
      person TEXT,
      version INTEGER
    ) STRICT;
    CREATE INDEX memory_proposals_by_time ON memory_proposals (at);
    CREATE INDEX memory_proposals_open ON memory_proposals (name, base) WHERE state = 'open';
    CREATE INDEX memory_proposals_by_run ON memory_proposals (instance_id);
    CREATE TABLE memory_not_kept (
      seq INTEGER PRIMARY KEY,
      at INTEGER NOT NULL,
      name TEXT NOT NULL,
      instance_id TEXT NOT NULL,
      reason TEXT NOT NULL,
      is_over INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX memory_not_kept_by_time ON memory_not_kept (at);
    CREATE INDEX memory_not_kept_last ON memory_not_kept (name, seq) WHERE is_over = 0;
    CREATE INDEX memory_not_kept_by_run ON memory_not_kept (instance_id);
    CREATE TABLE memory_seen (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL,
      id TEXT NOT NULL,
      UNIQUE (name, id)
    ) STRICT;
    CREATE INDEX memory_seen_by_name ON memory_seen (name, seq);`,
  ],
  growing: [
    { table: "memory_versions", batch: 20, where: isOldVersion },
    { table: "memory_proposals", batch: 20 },
    { table: "memory_not_kept", batch: 200 },
  ],
  recover: (db: DatabaseSync) =>
    db.exec(
      `DELETE FROM memory_runs WHERE instance_id NOT IN
        (SELECT instance_id FROM ${openTriggers} AND instance_id IS NOT NULL)`,
    ),
  blobs: ["memory_versions", "memory_runs", "memory_proposals"]
    .map(
      (table) =>
        `SELECT file.value ->> '$.hash' FROM ${table}, json_each(files) AS file WHERE files IS NOT NULL`,
    )
    .join(" UNION ALL "),
};
