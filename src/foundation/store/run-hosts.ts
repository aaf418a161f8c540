import type { DatabaseSync } from "node:sqlite";
import { isoTimes, type InMs } from "../../../streams/iso-times.ts";
import type { EgressAttempt } from "../contracts/network-allow.ts";
import type { DeniedHost, RunHost } from "../contracts/run-hosts.ts";
import { createEachSecond, type GroupCommit } from "./group-commit.ts";

/** Traffic that is added to a host of a run. */
interface HostChange extends Omit<EgressAttempt, "detail"> {
  readonly connections: number;
  /** When the last one was made, epoch ms. */
  readonly at: number;
}

/** Limits of stored distinct hosts of a run, one for denied and one for reached hosts: a run may invent any number. */
const mostHosts = 200;

/** Writes a change to `run_hosts`, inside the caller's transaction. */
function prepareHostWriter(db: DatabaseSync): (change: HostChange) => void {
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

/** Hosts of a run that wait for one commit, denied and reached ones. */
const maxWaiting = 400;
/** The most denied hosts of an agent in one answer. */
const mostDenied = 200;

/** Reads `run_hosts`, and writes it once a second: programs open many connections. `now` gives epoch ms. */
export function createRunHosts(db: DatabaseSync, { record }: GroupCommit, now: () => number) {
  const writeChange = prepareHostWriter(db);
  let waiting = new Map<string, Map<string, HostChange>>();

  const commits = createEachSecond(() => {
    const changes = [...waiting.values()].flatMap((ofRun) => [...ofRun.values()]);
    waiting = new Map();
    if (changes.length === 0) return Promise.resolve();
    return record(() => changes.forEach(writeChange));
  });

  return {
    /** Counts an attempt; committed within a second or so. */
    add: (attempt: EgressAttempt): void => {
      const { instanceId, host, port, denied } = attempt;
      const ofRun = waiting.get(instanceId) ?? new Map<string, HostChange>();
      waiting.set(instanceId, ofRun);
      const key = `${denied ?? ""} ${port} ${host}`;
      const before = ofRun.get(key);
      if (before === undefined && ofRun.size >= maxWaiting) return;
      ofRun.set(key, added(attempt, now(), before));
      commits.schedule();
    },
    /** Resolves when all that was counted is committed. */
    flush: commits.flush,
    /** Hands pending counts to the last commit. */
    close: commits.close,
    /** The hosts of a run, denied ones first. */
    of: (instanceId: string): readonly RunHost[] =>
      (select(db).all(instanceId) as unknown as InMs<RunHost, "lastAt">[]).map((host) =>
        isoTimes(host, "lastAt"),
      ),
    /** Hosts denied to an agent's runs since then, the latest first. */
    deniedTo: (agent: string, since: number): readonly DeniedHost[] => deniedTo(db, agent, since),
  };
}

function added(attempt: EgressAttempt, at: number, before: HostChange | undefined): HostChange {
  return {
    ...attempt,
    at,
    connections: (before?.connections ?? 0) + 1,
    bytesOut: (before?.bytesOut ?? 0) + attempt.bytesOut,
    bytesIn: (before?.bytesIn ?? 0) + attempt.bytesIn,
  };
}

function select(db: DatabaseSync) {
  return db.prepare(
    `SELECT host, port, connections, CAST(bytes_out AS REAL) AS bytesOut, CAST(bytes_in AS REAL) AS bytesIn,
       nullif(denied, '') AS denied, at AS lastAt
     FROM run_hosts WHERE instance_id = ? ORDER BY run_hosts.denied = '', at DESC, host, port`,
  );
}

/** Hosts denied to an agent's runs since then (epoch ms), the latest first. */
export function deniedTo(db: DatabaseSync, agent: string, since: number): readonly DeniedHost[] {
  const rows = db
    .prepare(
      `SELECT host, port, denied, sum(connections) AS attempts, max(at) AS lastAt
       FROM run_hosts WHERE agent = ? AND denied <> '' AND at >= ?
       GROUP BY host, port, denied ORDER BY max(at) DESC, host, port LIMIT ${mostDenied}`,
    )
    .all(agent, since) as unknown as InMs<DeniedHost, "lastAt">[];
  return rows.map((denied) => isoTimes(denied, "lastAt"));
}
