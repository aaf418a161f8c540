/**
 * Runs on other machines, while they live. Of `ticket` and `token` the SHA-256, hex; `claim` is the claimer's own id, null
 * before the run is claimed.
 */
export const remoteRunsTable = `
  CREATE TABLE remote_runs (
    instance_id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    ticket TEXT NOT NULL,
    claim TEXT,
    token TEXT
  ) WITHOUT ROWID, STRICT;
  `;
