/**
 * `outbox` holds each alert once for each target, written in the transaction of its event; `alert` is JSON.
 * `rule_states` is for the rules that open alerts; `agent` is empty for the project.
 */
export const alertTables = `
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
  ) WITHOUT ROWID, STRICT;`;

/** In `outbox`, `question` is the id of the question that a message asks, `receipt` what its target needs to edit it. */
export const questionMessages = `
  ALTER TABLE outbox ADD COLUMN question TEXT;
  ALTER TABLE outbox ADD COLUMN receipt TEXT;
  CREATE INDEX outbox_by_question ON outbox (question) WHERE question IS NOT NULL;`;
