/**
 * Calls to models and what they cost, in billionths of a US dollar. `reserved` is set while a call is open: a scheduler
 * that dies leaves it, and then it counts as spent. `nano_usd` is by price even where a subscription pays. An account of
 * `spend` is one scope in one window; `until` is when the window turns, or when its run last spent.
 */
export const modelCallsTable = `
  CREATE TABLE model_calls (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    day TEXT NOT NULL,
    instance_id TEXT NOT NULL,
    agent TEXT NOT NULL,
    model TEXT NOT NULL,
    provider_model TEXT NOT NULL,
    billing TEXT NOT NULL CHECK (billing IN ('priced', 'unpriced', 'subscription')),
    reserved INTEGER,
    status INTEGER,
    input INTEGER,
    cache_read INTEGER,
    cache_write INTEGER,
    cache_write_1h INTEGER,
    output INTEGER,
    nano_usd INTEGER NOT NULL DEFAULT 0,
    estimated INTEGER NOT NULL DEFAULT 0,
    first_byte_ms INTEGER,
    total_ms INTEGER
  ) STRICT;
  CREATE INDEX model_calls_by_time ON model_calls (at);
  CREATE INDEX model_calls_by_agent ON model_calls (agent, at);
  CREATE INDEX model_calls_by_run ON model_calls (instance_id, seq);
  CREATE INDEX model_calls_open ON model_calls (seq) WHERE reserved IS NOT NULL;

  CREATE TABLE spend (
    scope TEXT NOT NULL, -- project, agent:<name> or run:<instance id>
    window TEXT NOT NULL, -- 2026-11-22, 2026-11 or run
    until INTEGER NOT NULL,
    agent TEXT, -- of a run
    nano INTEGER NOT NULL DEFAULT 0,
    reserved INTEGER NOT NULL DEFAULT 0,
    raised INTEGER NOT NULL DEFAULT 0,
    warned INTEGER NOT NULL DEFAULT 0,
    turns INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (scope, window)
  ) WITHOUT ROWID, STRICT;
  CREATE INDEX spend_by_agent ON spend (agent, until) WHERE agent IS NOT NULL;
  `;
