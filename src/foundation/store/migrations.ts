import type { FeatureTables } from "./feature-tables.ts";
import { gatherings } from "./gatherings.ts";
import { runTables } from "./run-tables.ts";
import { missedSlots } from "./slots.ts";

/** Accepted deliveries. */
const receiptTable = `
  CREATE TABLE receipts (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    source TEXT NOT NULL,
    type TEXT NOT NULL,
    delivery_id TEXT,
    body_hash TEXT NOT NULL,
    headers TEXT NOT NULL,
    body BLOB NOT NULL,
    matched TEXT NOT NULL DEFAULT '[]',
    reason TEXT
  ) STRICT;
  CREATE INDEX receipts_by_time ON receipts (at);
  CREATE INDEX receipts_by_delivery ON receipts (source, delivery_id, body_hash)
    WHERE delivery_id IS NOT NULL;`;

/** A delivery is known by its body, and by its id where other deliveries may have the same body. */
const receiptsByBody = `
  DROP INDEX receipts_by_delivery;
  CREATE INDEX receipts_by_body ON receipts (source, body_hash, delivery_id);`;

/** The keys of deliveries that gave agents work: deliveries with other bodies and ids may report the same event. */
const dedupKeys = `
  ALTER TABLE receipts ADD COLUMN dedup_key TEXT;
  CREATE INDEX receipts_by_dedup_key ON receipts (source, dedup_key) WHERE dedup_key IS NOT NULL;`;

/** `continues` is the run whose session a run continues. */
const continuedRun = `
  ALTER TABLE triggers ADD COLUMN continues TEXT;
  UPDATE triggers SET continues = json_extract(trigger, '$.continues.instanceId') WHERE kind = 'manual';`;

/** Concurrency keys; `superseded_by` is the newer item that took the place of this one, or for which its run ends. */
const concurrencyKeys = `
  ALTER TABLE triggers ADD COLUMN key TEXT;
  ALTER TABLE triggers ADD COLUMN is_retry INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE triggers ADD COLUMN superseded_by TEXT;
  CREATE INDEX triggers_by_superseder ON triggers (superseded_by) WHERE superseded_by IS NOT NULL;`;

/** Authors and senders of a delivery that gave agents work, a JSON list; null before this format. */
const receiptNames = "ALTER TABLE receipts ADD COLUMN names TEXT;";

/** Session keys: the thread of a key's runs is read by the index, newest first. */
const sessionKeys = `
  ALTER TABLE triggers ADD COLUMN session TEXT;
  CREATE INDEX triggers_by_session ON triggers (agent, session, seq) WHERE session IS NOT NULL;`;

/**
 * The format of state.db. Step 0 makes the tables of version 0.1.0, its first format; each further step takes the
 * database to the next format, and a step that was released is never edited. Features have their own part of a step.
 *
 * `triggers` is the history and the durable work at once. Its order is (at, seq), which every index carries, so a page at
 * any depth is one seek. Its filters are in one column, `class`, so that one index serves all combinations of them.
 * `trigger_counts` has three hours a bucket: the page at any depth of any filter is found by adding up. SQL triggers keep
 * counts and sums right for every writer. Times are epoch ms, amounts billionths of a US dollar.
 */
export const storeFormat = {
  firstVersion: 15,
  steps: [
    `${historyTables()} ${runTables} ${receiptTable}
    CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT;
    INSERT INTO settings VALUES ('mask_key', lower(hex(randomblob(32))));
    CREATE TABLE disabled_agents (agent TEXT PRIMARY KEY) WITHOUT ROWID, STRICT;
    CREATE TABLE cron_ticks (agent TEXT PRIMARY KEY, last_at INTEGER NOT NULL) WITHOUT ROWID, STRICT;`,
    "",
    `${receiptsByBody} ${continuedRun}`,
    `${dedupKeys} ${missedSlots} ${gatherings} ${concurrencyKeys}`,
    `${receiptNames} ${sessionKeys}`,
  ],
};

/** The format of a database with the tables of these features. */
export function formatWith(features: readonly FeatureTables[]): typeof storeFormat {
  const steps = storeFormat.steps.map((own, step) =>
    [own, ...features.map((feature) => feature.steps[step] ?? "")].join("\n"),
  );
  return { ...storeFormat, steps };
}

/**
 * A call is a row of `triggers` like all work: `root` is the first row of its tree of calls, `caller` the instance that
 * called. `replay_of` is the row that this one repeats. `begun`: whether the run's process may have received a request;
 * if not, a crash does not cost its work an attempt.
 */
function historyTables(): string {
  const change = (row: "NEW" | "OLD", n: 1 | -1): string => `
    INSERT INTO trigger_counts VALUES
      (coalesce(${row}.agent, ''), ${row}.bucket, ${row}.kind, coalesce(${row}.outcome, ''), ${row}.dead_letter, ${n}),
      ('*', ${row}.bucket, ${row}.kind, coalesce(${row}.outcome, ''), ${row}.dead_letter, ${n})
      ON CONFLICT DO UPDATE SET n = n + excluded.n;`;
  const forget = `
    DELETE FROM trigger_counts
      WHERE agent IN (coalesce(OLD.agent, ''), '*') AND bucket = OLD.bucket AND kind = OLD.kind
        AND outcome = coalesce(OLD.outcome, '') AND dead_letter = OLD.dead_letter AND n = 0;`;
  return `
  CREATE TABLE triggers (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    agent TEXT,
    source TEXT,
    event TEXT,
    action TEXT,
    receipt_id TEXT,
    instance_id TEXT,
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'ended')),
    outcome TEXT,
    dead_letter INTEGER NOT NULL DEFAULT 0,
    reason TEXT,
    attempt INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    exit_code INTEGER,
    model TEXT,
    tokens REAL,
    cost_usd REAL,
    trigger TEXT,
    class TEXT GENERATED ALWAYS AS (kind || '/' || coalesce(outcome, '') || '/' || dead_letter) VIRTUAL,
    bucket INTEGER GENERATED ALWAYS AS (at / 10800000) VIRTUAL,
    call_id TEXT,
    caller TEXT,
    root TEXT,
    value TEXT,
    waited_ms INTEGER NOT NULL DEFAULT 0,
    replay_of TEXT,
    version TEXT,
    git_commit TEXT,
    git_dirty INTEGER,
    begun INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX triggers_by_time ON triggers (at);
  CREATE INDEX triggers_by_class ON triggers (class, at);
  CREATE INDEX triggers_by_agent_class ON triggers (agent, class, at);
  CREATE INDEX triggers_open ON triggers (seq, receipt_id) WHERE state <> 'ended';
  CREATE INDEX triggers_by_call ON triggers (call_id, seq) WHERE call_id IS NOT NULL;
  CREATE INDEX triggers_by_caller ON triggers (caller, seq) WHERE caller IS NOT NULL;
  CREATE INDEX triggers_by_root ON triggers (root) WHERE root IS NOT NULL;
  CREATE INDEX triggers_by_receipt ON triggers (receipt_id, agent) WHERE receipt_id IS NOT NULL;
  CREATE INDEX triggers_by_version ON triggers (version) WHERE version IS NOT NULL;
  CREATE INDEX triggers_by_instance ON triggers (instance_id, seq) WHERE instance_id IS NOT NULL;

  CREATE TABLE trigger_counts (
    agent TEXT NOT NULL, -- '' for none, '*' for all together
    bucket INTEGER NOT NULL,
    kind TEXT NOT NULL,
    outcome TEXT NOT NULL,
    dead_letter INTEGER NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (agent, bucket, kind, outcome, dead_letter)
  ) WITHOUT ROWID, STRICT;
  CREATE TRIGGER count_insert AFTER INSERT ON triggers BEGIN ${change("NEW", 1)} END;
  CREATE TRIGGER count_delete AFTER DELETE ON triggers BEGIN ${change("OLD", -1)} ${forget} END;
  CREATE TRIGGER count_update AFTER UPDATE OF agent, at, kind, outcome, dead_letter ON triggers
    BEGIN ${change("OLD", -1)} ${forget} ${change("NEW", 1)} END;

  CREATE TABLE last_runs (
    agent TEXT PRIMARY KEY,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    outcome TEXT NOT NULL,
    reason TEXT
  ) WITHOUT ROWID, STRICT;`;
}
