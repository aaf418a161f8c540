import { modelCallDaysTable } from "./model-call-days-table.ts";
import { modelCallsTable } from "./model-calls-table.ts";
import { outboxTables } from "./outbox-tables.ts";
import { refusedDeliveriesTable } from "./refused-deliveries-table.ts";
import { remoteRunsTable } from "./remote-runs-table.ts";
import { runHostsTable } from "./run-hosts-table.ts";

/**
 * The format of state.db, one step a version; a step that was released is never edited.
 *
 * `triggers` is the history and the durable work at once. Its order is (at, seq), which every index carries, so a
 * page at any depth is one seek. `trigger_counts` makes the total of any filter a sum over few rows; SQL triggers keep
 * it right for every writer. Times are epoch ms.
 */
export const migrations: readonly string[] = [
  `
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
    trigger TEXT
  ) STRICT;
  CREATE INDEX triggers_by_time ON triggers (at);
  CREATE INDEX triggers_by_agent ON triggers (agent, at);
  CREATE INDEX triggers_by_agent_outcome ON triggers (agent, outcome, at);
  CREATE INDEX triggers_by_outcome ON triggers (outcome, at);
  CREATE INDEX triggers_by_kind ON triggers (kind, at);
  CREATE INDEX triggers_by_dead_letter ON triggers (dead_letter, at);
  CREATE INDEX triggers_open ON triggers (seq, receipt_id) WHERE state <> 'ended';

  CREATE TABLE trigger_counts (
    agent TEXT NOT NULL,
    kind TEXT NOT NULL,
    outcome TEXT NOT NULL,
    dead_letter INTEGER NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (agent, kind, outcome, dead_letter)
  ) WITHOUT ROWID, STRICT;
  CREATE TRIGGER count_insert AFTER INSERT ON triggers BEGIN
    INSERT INTO trigger_counts
      VALUES (coalesce(NEW.agent, ''), NEW.kind, coalesce(NEW.outcome, ''), NEW.dead_letter, 1)
      ON CONFLICT DO UPDATE SET n = n + 1;
  END;
  CREATE TRIGGER count_update AFTER UPDATE OF agent, kind, outcome, dead_letter ON triggers BEGIN
    UPDATE trigger_counts SET n = n - 1
      WHERE agent = coalesce(OLD.agent, '') AND kind = OLD.kind
        AND outcome = coalesce(OLD.outcome, '') AND dead_letter = OLD.dead_letter;
    INSERT INTO trigger_counts
      VALUES (coalesce(NEW.agent, ''), NEW.kind, coalesce(NEW.outcome, ''), NEW.dead_letter, 1)
      ON CONFLICT DO UPDATE SET n = n + 1;
  END;
  CREATE TRIGGER count_delete AFTER DELETE ON triggers BEGIN
    UPDATE trigger_counts SET n = n - 1
      WHERE agent = coalesce(OLD.agent, '') AND kind = OLD.kind
        AND outcome = coalesce(OLD.outcome, '') AND dead_letter = OLD.dead_letter;
  END;

  CREATE TABLE last_runs (
    agent TEXT PRIMARY KEY,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    outcome TEXT NOT NULL,
    reason TEXT
  ) WITHOUT ROWID, STRICT;

  CREATE TABLE receipts (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    source TEXT NOT NULL,
    type TEXT NOT NULL,
    delivery_id TEXT,
    body_hash TEXT NOT NULL,
    headers TEXT NOT NULL,
    body BLOB NOT NULL
  ) STRICT;
  CREATE INDEX receipts_by_time ON receipts (at);
  CREATE INDEX receipts_by_delivery ON receipts (source, delivery_id, body_hash)
    WHERE delivery_id IS NOT NULL;

  CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT;
  CREATE TABLE disabled_agents (agent TEXT PRIMARY KEY) WITHOUT ROWID, STRICT;
  CREATE TABLE cron_ticks (agent TEXT PRIMARY KEY, last_at INTEGER NOT NULL) WITHOUT ROWID, STRICT;
  `,
  `
  ALTER TABLE receipts ADD COLUMN matched TEXT NOT NULL DEFAULT '[]';
  ALTER TABLE receipts ADD COLUMN reason TEXT;
  `,
  // The counts get a coarse time, three hours a bucket, so that the page at any depth of any filter is found by adding
  // up; the rows get their filters in one column, so that one index serves all combinations of them.
  `
  DROP TRIGGER count_insert;
  DROP TRIGGER count_update;
  DROP TRIGGER count_delete;
  DROP TABLE trigger_counts;
  DROP INDEX triggers_by_agent;
  DROP INDEX triggers_by_agent_outcome;
  DROP INDEX triggers_by_outcome;
  DROP INDEX triggers_by_kind;
  DROP INDEX triggers_by_dead_letter;

  ALTER TABLE triggers ADD COLUMN class TEXT
    GENERATED ALWAYS AS (kind || '/' || coalesce(outcome, '') || '/' || dead_letter) VIRTUAL;
  ALTER TABLE triggers ADD COLUMN bucket INTEGER GENERATED ALWAYS AS (at / 10800000) VIRTUAL;
  CREATE INDEX triggers_by_class ON triggers (class, at);
  CREATE INDEX triggers_by_agent_class ON triggers (agent, class, at);

  CREATE TABLE trigger_counts (
    agent TEXT NOT NULL, -- '' for none, '*' for all together
    bucket INTEGER NOT NULL,
    kind TEXT NOT NULL,
    outcome TEXT NOT NULL,
    dead_letter INTEGER NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (agent, bucket, kind, outcome, dead_letter)
  ) WITHOUT ROWID, STRICT;
  INSERT INTO trigger_counts
    SELECT coalesce(agent, ''), bucket, kind, coalesce(outcome, ''), dead_letter, count(*) FROM triggers
      GROUP BY 1, 2, 3, 4, 5;
  INSERT INTO trigger_counts
    SELECT '*', bucket, kind, outcome, dead_letter, sum(n) FROM trigger_counts GROUP BY 2, 3, 4, 5;

  CREATE TRIGGER count_insert AFTER INSERT ON triggers BEGIN
    INSERT INTO trigger_counts VALUES
      (coalesce(NEW.agent, ''), NEW.bucket, NEW.kind, coalesce(NEW.outcome, ''), NEW.dead_letter, 1),
      ('*', NEW.bucket, NEW.kind, coalesce(NEW.outcome, ''), NEW.dead_letter, 1)
      ON CONFLICT DO UPDATE SET n = n + 1;
  END;
  CREATE TRIGGER count_delete AFTER DELETE ON triggers BEGIN
    UPDATE trigger_counts SET n = n - 1
      WHERE agent IN (coalesce(OLD.agent, ''), '*') AND bucket = OLD.bucket AND kind = OLD.kind
        AND outcome = coalesce(OLD.outcome, '') AND dead_letter = OLD.dead_letter;
    DELETE FROM trigger_counts
      WHERE agent IN (coalesce(OLD.agent, ''), '*') AND bucket = OLD.bucket AND kind = OLD.kind
        AND outcome = coalesce(OLD.outcome, '') AND dead_letter = OLD.dead_letter AND n = 0;
  END;
  CREATE TRIGGER count_update AFTER UPDATE OF agent, at, kind, outcome, dead_letter ON triggers BEGIN
    UPDATE trigger_counts SET n = n - 1
      WHERE agent IN (coalesce(OLD.agent, ''), '*') AND bucket = OLD.bucket AND kind = OLD.kind
        AND outcome = coalesce(OLD.outcome, '') AND dead_letter = OLD.dead_letter;
    DELETE FROM trigger_counts
      WHERE agent IN (coalesce(OLD.agent, ''), '*') AND bucket = OLD.bucket AND kind = OLD.kind
        AND outcome = coalesce(OLD.outcome, '') AND dead_letter = OLD.dead_letter AND n = 0;
    INSERT INTO trigger_counts VALUES
      (coalesce(NEW.agent, ''), NEW.bucket, NEW.kind, coalesce(NEW.outcome, ''), NEW.dead_letter, 1),
      ('*', NEW.bucket, NEW.kind, coalesce(NEW.outcome, ''), NEW.dead_letter, 1)
      ON CONFLICT DO UPDATE SET n = n + 1;
  END;
  `,
  // What runs ask of each other. A call is a row of `triggers` like all work; `root` is the id of the row that its tree
  // of calls began with, `caller` the instance that called. `answers` holds what a repeated request is told whose effect
  // could not be found again.
  `
  ALTER TABLE triggers ADD COLUMN call_id TEXT;
  ALTER TABLE triggers ADD COLUMN caller TEXT;
  ALTER TABLE triggers ADD COLUMN root TEXT;
  ALTER TABLE triggers ADD COLUMN value TEXT;
  ALTER TABLE triggers ADD COLUMN waited_ms INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX triggers_by_call ON triggers (call_id, seq) WHERE call_id IS NOT NULL;
  CREATE INDEX triggers_by_caller ON triggers (caller, seq) WHERE caller IS NOT NULL;
  CREATE INDEX triggers_by_root ON triggers (root) WHERE root IS NOT NULL;

  CREATE TABLE locks (
    resource TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    instance_id TEXT NOT NULL,
    fencing_token INTEGER NOT NULL,
    held_since INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) WITHOUT ROWID, STRICT;
  CREATE TABLE waits (
    instance_id TEXT NOT NULL,
    key TEXT NOT NULL,
    agent TEXT NOT NULL,
    condition TEXT NOT NULL,
    since INTEGER NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (instance_id, key)
  ) WITHOUT ROWID, STRICT;
  CREATE TABLE answers (
    instance_id TEXT NOT NULL,
    key TEXT NOT NULL,
    answer TEXT NOT NULL,
    PRIMARY KEY (instance_id, key)
  ) WITHOUT ROWID, STRICT;
  CREATE TABLE channels (
    instance_id TEXT PRIMARY KEY,
    token_hash TEXT NOT NULL,
    dir TEXT NOT NULL
  ) WITHOUT ROWID, STRICT;
  `,
  // A wait looks back at the deliveries since its run's start, and asks of each what its agent's runs had of it.
  // `asked_ms` is how long a wait was to last that may not last so long.
  `
  CREATE INDEX triggers_by_receipt ON triggers (receipt_id, agent) WHERE receipt_id IS NOT NULL;
  ALTER TABLE waits ADD COLUMN asked_ms INTEGER;
  `,
  // The id of the row that this one is a replay of.
  `
  ALTER TABLE triggers ADD COLUMN replay_of TEXT;
  `,
  modelCallsTable,
  // What runs ran: config and instructions, each content once, and the commit of the project's repository. Secret values
  // are in a content as a hash under a key of the project's own, so that a short value can't be guessed from it.
  `
  CREATE TABLE run_contents (hash TEXT PRIMARY KEY, content TEXT NOT NULL) STRICT;
  ALTER TABLE triggers ADD COLUMN version TEXT;
  ALTER TABLE triggers ADD COLUMN git_commit TEXT;
  ALTER TABLE triggers ADD COLUMN git_dirty INTEGER;
  CREATE INDEX triggers_by_version ON triggers (version) WHERE version IS NOT NULL;
  CREATE INDEX triggers_by_instance ON triggers (instance_id, seq) WHERE instance_id IS NOT NULL;
  INSERT INTO settings VALUES ('mask_key', lower(hex(randomblob(32))));
  `,
  // Why a run's last call was refused for its budget. A later scheduler may see the run end.
  `
  ALTER TABLE spend ADD COLUMN refused TEXT;
  `,
  runHostsTable,
  outboxTables,
  refusedDeliveriesTable,
  remoteRunsTable,
  modelCallDaysTable,
  // Whether the run's process may have been asked for something. If not, a crash costs its work no try.
  `
  ALTER TABLE triggers ADD COLUMN begun INTEGER NOT NULL DEFAULT 0;
  UPDATE triggers SET begun = 1 WHERE state = 'running';
  `,
];
