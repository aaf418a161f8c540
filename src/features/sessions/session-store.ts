import type { DatabaseSync } from "node:sqlite";
import { gunzipSync } from "node:zlib";
import { sessionProgram } from "../../../streams/harnesses.ts";
import type { RunRequest } from "../../../streams/vocabulary.ts";
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
  /** The last run of the key that left its session. */
  readonly instanceId: string;
  readonly at: number;
  readonly until: number;
  readonly program: string;
  readonly bytes: number;
  /** How many runs of the key the history has. */
  readonly runs: number;
  /** The live run of the key; null without one. */
  readonly live: string | null;
}

/** A run of a session key. */
export interface ThreadRun {
  readonly instanceId: string;
  /** Epoch ms. */
  readonly at: number;
  /** Null while it is live. */
  readonly outcome: string | null;
}

const mostSessions = 500;
/** How many runs of a thread are listed. */
const mostRuns = 20;

/** Reads and writes the sessions of runs. Each promise resolves once its change is committed. */
export function createSessionStore(db: DatabaseSync, { write }: GroupCommit) {
  const put = db.prepare(
    `INSERT INTO sessions (instance_id, at, agent, key, until, program, state, files)
       VALUES (?, ?, ?, ?, ?, ?, 'pending', ?)
     ON CONFLICT (instance_id) DO UPDATE SET files = excluded.files WHERE state = 'pending'`,
  );
  const find = db.prepare("SELECT state, program, files FROM sessions WHERE instance_id = ?");
  const end = db.prepare(
    "DELETE FROM sessions WHERE instance_id = :id AND (state = 'removed' OR :isKept = 0)",
  );
  const keep = db.prepare("UPDATE sessions SET state = 'kept' WHERE instance_id = ? RETURNING key");
  const forgetEarlier = db.prepare(
    "DELETE FROM sessions WHERE agent = ? AND key = ? AND instance_id <> ? AND state = 'kept'",
  );
  const latest = db.prepare(
    `SELECT instance_id AS id FROM sessions
     WHERE agent = ? AND key = ? AND state = 'kept' AND program = ? AND at >= ? ORDER BY at DESC, seq DESC LIMIT 1`,
  );
  const link = db.prepare("UPDATE triggers SET continues = ? WHERE id = ?");
  const linked = db.prepare(
    `SELECT continues, (SELECT session FROM triggers AS earlier WHERE earlier.instance_id = triggers.continues LIMIT 1) AS key
     FROM triggers WHERE instance_id = ? AND continues IS NOT NULL`,
  );
  const list = db.prepare(
    `SELECT key, instance_id AS instanceId, at, until, program,
       (SELECT sum(value ->> '$.bytes') FROM json_each(files)) AS bytes,
       (SELECT count(*) FROM triggers
         WHERE agent = sessions.agent AND session = sessions.key AND started_at IS NOT NULL) AS runs,
       (SELECT instance_id FROM triggers
         WHERE agent = sessions.agent AND session = sessions.key AND state = 'running' LIMIT 1) AS live
     FROM sessions WHERE agent = :agent AND key IS NOT NULL AND (:key IS NULL OR key = :key) AND state = 'kept'
     ORDER BY at DESC, seq DESC LIMIT ${mostSessions}`,
  );
  const remove = db.prepare(
    `DELETE FROM sessions WHERE agent = :agent AND key IS NOT NULL AND (:key IS NULL OR key = :key) AND state = 'kept'`,
  );
  // The live run ends as usual, but its session is not kept: it holds the removed one.
  const removeLive = db.prepare(
    `INSERT INTO sessions (instance_id, at, agent, key, program, state, files)
       SELECT instance_id, started_at, agent, session, '', 'removed', '[]' FROM triggers
       WHERE agent = :agent AND session IS NOT NULL AND (:key IS NULL OR session = :key) AND state = 'running'
     ON CONFLICT (instance_id) DO UPDATE SET state = 'removed', files = '[]'`,
  );
  const thread = db.prepare(
    `SELECT instance_id AS instanceId, at, outcome FROM triggers
     WHERE agent = ? AND session = ? AND started_at IS NOT NULL ORDER BY seq DESC LIMIT ${mostRuns}`,
  );
  const keyOf = db.prepare(
    "SELECT session FROM triggers WHERE instance_id = ? AND started_at IS NOT NULL LIMIT 1",
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
  const stored = (instanceId: string): StoredSession | null => {
    const row = find.get(instanceId);
    if (row === undefined || row.state === "removed") return null;
    return {
      program: String(row.program),
      files: JSON.parse(String(row.files)) as readonly SessionFile[],
    };
  };
  return {
    /** Stores the session of a live run until its end; false if a person removed it. */
    put: (
      { instanceId, agent, item }: RunRequest,
      files: readonly SessionFile[],
      at: number,
    ): Promise<boolean> => {
      const key = agent.session === null ? null : (item.session ?? null);
      const until = key === null ? null : at + (agent.session?.keepMs ?? 0);
      const program = sessionProgram(agent.harness)?.name ?? "";
      const json = JSON.stringify(files);
      return write(
        () => put.run(instanceId, at, agent.name, key, until, program, json).changes === 1,
      );
    },
    /** Null if it is not stored. */
    find: stored,
    /** The session of a run of an earlier version, a message a line; null if it is not stored. */
    early,
    /** The program that can continue the run's session; null if that is not stored. */
    programOf: (instanceId: string): string | null =>
      stored(instanceId)?.program ?? (early(instanceId) === null ? null : "pi"),
    /** Keeps the session of a run that has ended in place of the earlier one of its key, or deletes it; in a transaction. */
    settle: (
      { instanceId, item }: { instanceId: string; item: RunRequest["item"] },
      isKept: boolean,
    ): void => {
      end.run({ id: instanceId, isKept: Number(isKept) });
      const key = keep.get(instanceId)?.key;
      if (typeof key === "string") forgetEarlier.run(item.agent, key, instanceId);
    },
    /** Chooses the session that a run continues, inside the transaction of its claim: the kept one of its key. */
    link: ({ agent, item }: RunRequest, now: number): void => {
      const { session } = agent;
      if (session === null || item.session === undefined || continuesOf(item) !== null) return;
      const program = sessionProgram(agent.harness)?.name ?? null;
      const found = latest.get(agent.name, item.session, program, now - session.keepMs);
      link.run(found?.id ?? null, item.id);
    },
    /** The run whose session this one continues, and the session key of that; null for none. */
    continued: (
      instanceId: string,
    ): { readonly continues: string; readonly key: string | null } | null =>
      (linked.get(instanceId) as { continues: string; key: string | null } | undefined) ?? null,
    /** The kept sessions of an agent's keys, the latest first, at most 500. */
    list: (agent: string, key: string | null = null): readonly KeptSession[] =>
      list.all({ agent, key }) as unknown as readonly KeptSession[],
    /** Deletes the kept session of a key, or of all keys of an agent, and those of live runs; resolves to their number. */
    remove: (agent: string, key: string | null): Promise<number> =>
      write(
        () =>
          Number(remove.run({ agent, key }).changes) +
          Number(removeLive.run({ agent, key }).changes),
      ),
    /** The session key of a run; null without one. */
    keyOf: (instanceId: string): string | null => {
      const key = keyOf.get(instanceId)?.session;
      return typeof key === "string" ? key : null;
    },
    /** The runs of a session key, the latest first, at most 20. */
    thread: (agent: string, key: string): readonly ThreadRun[] =>
      thread.all(agent, key) as unknown as readonly ThreadRun[],
  };
}

export type SessionStore = ReturnType<typeof createSessionStore>;

interface StoredSession {
  readonly program: string;
  readonly files: readonly SessionFile[];
}

/** The run that a person continues with this work; null for other work. */
function continuesOf({ trigger }: RunRequest["item"]): string | null {
  return trigger.kind === "manual" ? (trigger.continues?.instanceId ?? null) : null;
}
