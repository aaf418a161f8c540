import { alertTables, questionMessages } from "./alert-tables.ts";
import { runTables } from "./run-tables.ts";
import { seenOfCalls, spendTables } from "./spend.ts";

/** Accepted deliveries, and refused ones, counted per ten minutes. `source` is empty if it is unknown. */
const deliveryTables = `
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
    WHERE delivery_id IS NOT NULL;
  CREATE TABLE refused_deliveries (
    stretch INTEGER NOT NULL,
    type TEXT NOT NULL,
    source TEXT NOT NULL,
    result TEXT NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    count INTEGER NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (stretch, type, source, result)
  ) WITHOUT ROWID, STRICT;
  CREATE INDEX refused_deliveries_by_time ON refused_deliveries (last_at);`;

/**
 * `questions` holds the questions of runs to people: a run has one open question about a subject. `used_at` is when an
 * approval for once was used up. `inbox` holds messages of people to runs, with the work that continues a run,
 * `run_sessions` the sessions of ended runs in parts, `audit` who did something: `person` is JSON. `answer_key` signs the
 * links by which people answer.
 */
const peopleTables = `
  INSERT INTO settings VALUES ('answer_key', lower(hex(randomblob(32))));
  CREATE TABLE questions (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    agent TEXT NOT NULL,
    gates TEXT NOT NULL,
    instance_id TEXT NOT NULL,
    subject TEXT NOT NULL,
    prompt TEXT NOT NULL,
    form TEXT NOT NULL,
    fallback TEXT,
    until INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'answered', 'expired', 'withdrawn')),
    answer TEXT,
    answered_at INTEGER,
    person TEXT,
    used_at INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX questions_open ON questions (instance_id, kind, subject) WHERE state = 'open';
  CREATE INDEX questions_by_run ON questions (instance_id, kind, subject);
  CREATE INDEX questions_by_time ON questions (at);
  CREATE TABLE inbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    instance_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    person TEXT NOT NULL,
    received_at INTEGER,
    trigger_id TEXT
  ) STRICT;
  CREATE INDEX inbox_by_run ON inbox (instance_id, seq);
  CREATE INDEX inbox_by_time ON inbox (at);
  CREATE TABLE run_sessions (
    seq INTEGER PRIMARY KEY,
    instance_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    part INTEGER NOT NULL,
    is_last INTEGER NOT NULL,
    entries BLOB NOT NULL,
    UNIQUE (instance_id, part)
  ) STRICT;
  CREATE INDEX run_sessions_by_time ON run_sessions (at);
  CREATE TABLE audit (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    act TEXT NOT NULL,
    agent TEXT,
    instance_id TEXT,
    detail TEXT NOT NULL,
    person TEXT NOT NULL
  ) STRICT;
  CREATE INDEX audit_by_time ON audit (at);
  CREATE INDEX audit_by_agent ON audit (agent); CREATE INDEX audit_by_act ON audit (act);
  CREATE INDEX audit_by_run ON audit (instance_id) WHERE instance_id IS NOT NULL;
  CREATE TABLE tokens (
    name TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    agents TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    last_used_at INTEGER
  ) WITHOUT ROWID, STRICT;`;

/**
 * `mcp_pins` holds the tools of MCP servers as agents know them: a definition that changed since is told. `mcp_calls` holds
 * the calls that were sent and have not ended.
 */
const mcpTables = `
  CREATE TABLE mcp_pins (
    agent TEXT NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    at INTEGER NOT NULL,
    definition TEXT NOT NULL,
    PRIMARY KEY (agent, server, tool)
  ) WITHOUT ROWID, STRICT;
  CREATE TABLE mcp_calls (
    instance_id TEXT NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (instance_id, key)
  ) WITHOUT ROWID, STRICT;`;

/** A delivery is known by its body, and by its id where other deliveries may have the same body. */
const receiptsByBody = `
  DROP INDEX receipts_by_delivery;
  CREATE INDEX receipts_by_body ON receipts (source, body_hash, delivery_id);`;

/**
 * `request_hash` of an approval is the keyed hash of the exact request. `continues` is the run whose session a run continues.
 */
const gateColumns = `
  ALTER TABLE questions ADD COLUMN request_hash TEXT;
  ALTER TABLE triggers ADD COLUMN continues TEXT;
  UPDATE triggers SET continues = json_extract(trigger, '$.continues.instanceId') WHERE kind = 'manual';`;

/** The answers of people that name a secret, as they gave them: for their runs alone, until these have ended. */
const wholeAnswers = `
  CREATE TABLE whole_answers (
    question_id TEXT PRIMARY KEY,
    instance_id TEXT NOT NULL,
    answer TEXT NOT NULL
  ) STRICT;`;

/**
 * The format of state.db. Step 0 makes the tables of version 0.1.0, its first format; each further step takes the
 * database to the next format, and a step that was released is never edited.
 *
 * `triggers` is the history and the durable work at once. Its order is (at, seq), which every index carries, so a page at
 * any depth is one seek. Its filters are in one column, `class`, so that one index serves all combinations of them.
 * `trigger_counts` has three hours a bucket: the page at any depth of any filter is found by adding up. SQL triggers keep
 * counts and sums right for every writer. Times are epoch ms, amounts billionths of a US dollar.
 */
export const storeFormat = {
  firstVersion: 15,
  steps: [
    `${historyTables()} ${runTables} ${deliveryTables} ${spendTables()} ${alertTables}
    CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID, STRICT;
    INSERT INTO settings VALUES ('mask_key', lower(hex(randomblob(32))));
    CREATE TABLE disabled_agents (agent TEXT PRIMARY KEY) WITHOUT ROWID, STRICT;
    CREATE TABLE cron_ticks (agent TEXT PRIMARY KEY, last_at INTEGER NOT NULL) WITHOUT ROWID, STRICT;`,
    `${peopleTables} ${questionMessages} ${mcpTables}`,
    `${receiptsByBody} ${gateColumns} ${wholeAnswers} ${seenOfCalls}`,
  ],
};

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
