/** Hosts that runs asked for: `denied` is why, or empty where they were let through; `at` is the last time. */
export const runHostsTable = `
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
  CREATE INDEX run_hosts_denied ON run_hosts (agent, at) WHERE denied <> '';
`;
