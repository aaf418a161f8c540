/**
 * Live runs: their locks, their waits (`asked_ms` is a requested timeout above the limit), the answers to repeated
 * requests whose effect could not be found again, one with the key `session-end` once people can send no more messages,
 * their sockets, and their machines: `ticket` and `token` are SHA-256 in hex, `claim` is the claimer's id, null before the claim. `run_contents` holds each config with its instructions once,
 * with secret values as hashes under the project's `mask_key`, so that a short one can't be guessed. `run_hosts` has the
 * hosts that runs requested: `denied` is empty if they were allowed.
 */
export const runTables = `
  CREATE TABLE run_contents (hash TEXT PRIMARY KEY, content TEXT NOT NULL) STRICT;
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
    asked_ms INTEGER,
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
  CREATE TABLE remote_runs (
    instance_id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    ticket TEXT NOT NULL,
    claim TEXT,
    token TEXT
  ) WITHOUT ROWID, STRICT;
  CREATE TABLE run_hosts (
    instance_id TEXT NOT NULL,
    denied TEXT NOT NULL,
    host TEXT NOT NULL,
    port INTEGER NOT NULL,
    agent TEXT NOT NULL,
    connections INTEGER NOT NULL,
    bytes_out INTEGER NOT NULL,
    bytes_in INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (instance_id, denied, host, port)
  ) WITHOUT ROWID, STRICT;
  CREATE INDEX run_hosts_by_time ON run_hosts (at);
  CREATE INDEX run_hosts_denied ON run_hosts (agent, at) WHERE denied <> '';`;
