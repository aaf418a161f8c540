/**
 * Alerts. `outbox` holds each alert once for each target, written in the transaction of what it is about; `alert` is JSON.
 * `rule_states` is what the rules that open alerts know; `agent` is empty for the project.
 */
export const outboxTables = `
  CREATE TABLE outbox (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    target TEXT NOT NULL,
    alert TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'sent', 'dead')),
    attempts INTEGER NOT NULL DEFAULT 0,
    next_at INTEGER NOT NULL,
    last_error TEXT,
    ended_at INTEGER
  ) STRICT;
  CREATE INDEX outbox_waiting ON outbox (target, next_at) WHERE state = 'waiting';
  CREATE INDEX outbox_dead ON outbox (seq) WHERE state = 'dead';
  CREATE INDEX outbox_by_time ON outbox (at);

  CREATE TABLE rule_states (
    agent TEXT NOT NULL,
    rule TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (agent, rule)
  ) WITHOUT ROWID, STRICT;
  CREATE TABLE targets_off (
    target TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    reason TEXT NOT NULL
  ) WITHOUT ROWID, STRICT;
`;
