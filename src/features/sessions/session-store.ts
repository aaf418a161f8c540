import type { DatabaseSync } from "node:sqlite";
import { gunzipSync } from "node:zlib";
import { sessionProgram } from "../../../streams/harnesses.ts";
import type { RunRequest } from "../../../streams/vocabulary.ts";
import { withJson } from "../../foundation/store/rows.ts";
import type { GroupCommit } from "../../foundation/store/group-commit.ts";

/** A file of a session; its content is a blob. */
export interface SessionFile {
  readonly path: string;
  readonly hash: string;
  readonly bytes: number;
}

/** The kept session of a key. Times are epoch ms. */
export interface KeptSession {
  readonly key: string;
  /** The last run that left its session. */
  readonly instanceId: string;
  readonly at: number;
  readonly until: number;
  readonly bytes: number;
  /** Runs of the key in the history. */
  readonly runs: number;
  /** The live run; null without one. */
  readonly live: string | null;
}

/** Reads and writes the sessions of runs. Each promise resolves once its change is committed. */
export function createSessionStore(db: DatabaseSync, { write }: GroupCommit) {
  const put = db.prepare(
    `INSERT INTO sessions VALUES (NULL, ?, ?, ?, ?, ?, ?, 'pending', ?)
     ON CONFLICT (instance_id) DO UPDATE SET files = excluded.files WHERE state = 'pending'`,
  );
  const find = db.prepare(
    "SELECT program, files FROM sessions WHERE instance_id = ? AND state <> 'removed'",
  );
  const drop = db.prepare(
    "DELETE FROM sessions WHERE instance_id = ? AND (state = 'removed' OR NOT ?)",
  );
  const keep = db.prepare("UPDATE sessions SET state = 'kept' WHERE instance_id = ? RETURNING key");
  const dropEarlier = db.prepare(
    "DELETE FROM sessions WHERE agent = ? AND key = ? AND instance_id <> ? AND state = 'kept'",
  );
  const link = db.prepare(
    `UPDATE triggers SET continues = (SELECT instance_id FROM sessions
       WHERE sessions.agent = ? AND sessions.key = ? AND program = ? AND sessions.state = 'kept' AND sessions.at >= ?)
     WHERE id = ?`,
  );
  const run = db.prepare(
    "SELECT continues, session FROM triggers WHERE instance_id = ? AND started_at IS NOT NULL LIMIT 1",
  );
  const ofAgent = "agent = :agent AND key IS NOT NULL AND (:key IS NULL OR key = :key)";
  const list = db.prepare(
    `SELECT key, instance_id AS instanceId, at, until,
       (SELECT sum(value ->> '$.bytes') FROM json_each(files)) AS bytes,
       (SELECT count(started_at) FROM triggers WHERE agent = sessions.agent AND session = sessions.key) AS runs,
       (SELECT instance_id FROM triggers
         WHERE agent = sessions.agent AND session = sessions.key AND state = 'running') AS live
     FROM sessions WHERE ${ofAgent} AND state = 'kept' ORDER BY at DESC, seq DESC LIMIT 500`,
  );
  const remove = db.prepare(`DELETE FROM sessions WHERE ${ofAgent} AND state = 'kept'`);
  // The live run ends as usual, but its session is not kept: it contains the removed one.
  const removeLive = db.prepare(
    `INSERT INTO sessions
       SELECT NULL, instance_id, started_at, agent, session, NULL, '', 'removed', '[]' FROM triggers
       WHERE agent = :agent AND session IS NOT NULL AND (:key IS NULL OR session = :key) AND state = 'running'
     ON CONFLICT (instance_id) DO UPDATE SET state = 'removed', files = '[]'`,
  );
  const thread = db.prepare(
    `SELECT instance_id AS instanceId, at, outcome FROM triggers
     WHERE agent = ? AND session = ? AND started_at IS NOT NULL ORDER BY seq DESC LIMIT 20`,
  );
  // An earlier version of the program stored sessions in parts.
  const parts = db.prepare(
    "SELECT is_last, entries FROM run_sessions WHERE instance_id = ? ORDER BY part",
  );
  const early = (instanceId: string): string | null => {
    const rows = parts.all(instanceId);
    if (rows.at(-1)?.is_last !== 1) return null;
    return rows.map(({ entries }) => gunzipSync(entries as Uint8Array).toString("utf8")).join("\n");
  };
  const stored = (instanceId: string) => {
    const row = find.get(instanceId);
    return row && withJson<StoredSession>(row, "files");
  };
  const storedProgram = (instanceId: string): string | null =>
    stored(instanceId)?.program ?? (early(instanceId) === null ? null : "pi");
  const linkOf = (instanceId: string) => run.get(instanceId) as RunLink | undefined;
  return {
    /** Stores the session of a live run until its end; false if a person removed it. */
    put: (
      { instanceId, agent, item }: RunRequest,
      files: readonly SessionFile[],
      at: number,
    ): Promise<boolean> => {
      const { session } = agent;
      const key = session && (item.session ?? null);
      const until = session && key && at + session.keepMs;
      const program = programOf(agent);
      const json = JSON.stringify(files);
      return write(
        () => put.run(instanceId, at, agent.name, key, until, program, json).changes === 1,
      );
    },
    /** The files of a session; undefined if it is not stored. */
    files: (instanceId: string) => stored(instanceId)?.files,
    /** The session of a run of an earlier version, a message a line; null if it is not stored. */
    early,
    /** The program that can continue the run's session; null if that is not stored. */
    programOf: storedProgram,
    /** Inside a transaction: keeps the session of a run that ends in place of the earlier one of its key, or deletes it. */
    settle: (instanceId: string, agent: string, isKept: boolean): void => {
      drop.run(instanceId, Number(isKept));
      const key = keep.get(instanceId)?.key;
      if (typeof key === "string") dropEarlier.run(agent, key, instanceId);
    },
    /** Inside the transaction of a claim: the run continues the kept session of its key. */
    link: ({ agent, item }: RunRequest, now: number): void => {
      const { session } = agent;
      const { continues } = { continues: undefined, ...item.trigger };
      if (session === null || item.session === undefined) return;
      // A person chose it; meanwhile a later run of the key may have continued it.
      if (continues !== undefined && storedProgram(continues.instanceId) !== null) return;
      link.run(agent.name, item.session, programOf(agent), now - session.keepMs, item.id);
    },
    /** The run whose session this one continues; null for none. */
    continued: (instanceId: string): string | null => linkOf(instanceId)?.continues ?? null,
    /** The session key of a run; null without one. */
    keyOf: (instanceId: string): string | null => linkOf(instanceId)?.session ?? null,
    /** The kept sessions of an agent's keys, the latest first, at most 500. */
    list: (agent: string, key: string | null = null) =>
      list.all({ agent, key }) as unknown as readonly KeptSession[],
    /** Deletes the sessions of a key, or of all keys, also those of live runs; resolves to their number. */
    remove: (agent: string, key: string | null): Promise<number> =>
      write(() =>
        [remove, removeLive].reduce((n, one) => n + Number(one.run({ agent, key }).changes), 0),
      ),
    /** The runs of a session key, the latest first, at most 20. `at` is epoch ms, `outcome` null for a live one. */
    thread: (agent: string, key: string) =>
      thread.all(agent, key) as unknown as readonly {
        readonly instanceId: string;
        readonly at: number;
        readonly outcome: string | null;
      }[],
  };
}

export type SessionStore = ReturnType<typeof createSessionStore>;

interface StoredSession {
  readonly program: string;
  readonly files: readonly SessionFile[];
}

interface RunLink {
  readonly continues: string | null;
  readonly session: string | null;
}

function programOf({ harness }: RunRequest["agent"]): string {
  return sessionProgram(harness)?.name ?? "";
}
