import type { DatabaseSync } from "node:sqlite";
import type { EgressAttempt } from "../contracts/egress.ts";

/** What is added to a host of a run. */
export interface HostChange extends Omit<EgressAttempt, "detail"> {
  readonly connections: number;
  /** Of the last one, epoch ms. */
  readonly at: number;
}

/** Distinct ones of a run that are stored, of those denied and of those reached: a run may make up as many as it likes. */
const mostHosts = 200;

/** Writes a change to `run_hosts`, inside the caller's transaction. */
export function prepareHostWriter(db: DatabaseSync): (change: HostChange) => void {
  const update = db.prepare(
    `UPDATE run_hosts SET connections = connections + ?, bytes_out = bytes_out + ?, bytes_in = bytes_in + ?, at = ?
     WHERE instance_id = ? AND denied = ? AND host = ? AND port = ?`,
  );
  const count = db.prepare(
    "SELECT count(*) AS hosts FROM run_hosts WHERE instance_id = ? AND (denied = '') = ?",
  );
  const insert = db.prepare(
    `INSERT INTO run_hosts (connections, bytes_out, bytes_in, at, instance_id, denied, host, port, agent)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return ({ instanceId, agent, host, port, denied, connections, bytesOut, bytesIn, at }) => {
    const values = [connections, bytesOut, bytesIn, at, instanceId, denied ?? "", host, port];
    if (Number(update.run(...values).changes) > 0) return;
    const { hosts } = count.get(instanceId, Number(denied === null)) ?? { hosts: 0 };
    if (Number(hosts) < mostHosts) insert.run(...values, agent);
  };
}
