import type { DatabaseSync } from "node:sqlite";
import { withJson, whereOf } from "../../foundation/store/rows.ts";
import type { AlertsQuery } from "./alerts-report.ts";
import type {
  TargetDeliveries,
  SwitchedOff,
  AttemptRecord,
  AlertWrites,
  Delivery,
  RuleState,
  StoredDelivery,
} from "./rules/alert.ts";
import type { FeatureTables } from "../../foundation/store/feature-tables.ts";
import type { GroupCommit } from "../../foundation/store/group-commit.ts";

/**
 * `outbox` holds each alert once for each target, written in the transaction of its event; `alert` is JSON.
 * `question` is the id of the question that a message asks, `receipt` what its target needs to edit it. `rule_states` is
 * for the rules that open alerts; `agent` is empty for the project.
 */
export const alertTables: FeatureTables = {
  steps: [
    `CREATE TABLE outbox (
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
    ) WITHOUT ROWID, STRICT;`,
    `ALTER TABLE outbox ADD COLUMN question TEXT;
    ALTER TABLE outbox ADD COLUMN receipt TEXT;
    CREATE INDEX outbox_by_question ON outbox (question) WHERE question IS NOT NULL;`,
  ],
  growing: [
    // Waiting alerts are never deleted. Many of them, for a target that is down, would otherwise be the oldest rows, and no
    // younger row of any table would be deleted.
    { table: "outbox", batch: 200, where: "+state <> 'waiting'" },
  ],
};

/** Deliveries due further ahead than this, in ms, were planned before the clock was set back. */
const furthestMs = 27 * 3_600_000;

const columns = `id, at, target, alert, state, attempts, next_at AS nextAt, last_error AS lastError,
  ended_at AS endedAt, receipt`;

/** Reads and writes `outbox`, `rule_states` and `targets_off`. */
export function createAlertStore(db: DatabaseSync, { write, record }: GroupCommit) {
  const put = preparePut(db);
  const states = db.prepare("SELECT agent, rule, value FROM rule_states");
  const remove = db.prepare("DELETE FROM outbox WHERE id = ?");
  const due = db.prepare(
    `SELECT ${columns} FROM outbox WHERE state = 'waiting' AND target = :target
       AND (next_at <= :now OR next_at > :now + ${furthestMs})
     ORDER BY next_at, seq LIMIT :limit`,
  );
  const next = db.prepare(
    "SELECT min(next_at) AS at FROM outbox WHERE state = 'waiting' AND target = ?",
  );
  const waiting = db.prepare("SELECT DISTINCT target FROM outbox WHERE state = 'waiting'");
  const attempt = db.prepare(
    `UPDATE outbox SET state = :state, attempts = attempts + 1, next_at = coalesce(:nextAt, next_at),
       last_error = coalesce(:error, last_error), ended_at = :endedAt,
       receipt = iif(:state = 'sent', :receipt, receipt) WHERE id = :id`,
  );
  // Messages that can be edited are sent once more; the sender drops the others.
  const endQuestion = db.prepare(
    `UPDATE outbox SET state = 'waiting', next_at = :now, attempts = 0, last_error = NULL, ended_at = NULL,
       alert = json_set(alert, '$.phase', 'resolved')
     WHERE question = :id AND (state = 'waiting' OR receipt IS NOT NULL)`,
  );
  const giveUp = db.prepare(
    "DELETE FROM outbox WHERE question = ? AND state = 'dead' AND receipt IS NULL",
  );
  const notEdited = db.prepare(
    `SELECT DISTINCT question FROM outbox
     WHERE question IS NOT NULL AND (state = 'waiting' OR receipt IS NOT NULL)`,
  );
  // Deliveries that were never attempted and are not due wait for the end of quiet hours.
  const dueAgain = (which: string, lastError: string) =>
    db.prepare(
      `UPDATE outbox SET state = 'waiting', next_at = :now, ended_at = NULL,
         attempts = iif(state = 'dead', 0, attempts), last_error = ${lastError}
       WHERE ${which} AND (state = 'dead' OR state = 'waiting' AND (attempts > 0 OR next_at <= :now))`,
    );
  const again = dueAgain("id = :id", "last_error");
  const failedAgain = dueAgain("target = :target", "NULL");
  const off = db.prepare(
    `INSERT INTO targets_off VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET at = excluded.at, reason = excluded.reason`,
  );
  const on = db.prepare("DELETE FROM targets_off WHERE target = ?");

  return {
    /** Writes inside the transaction that the caller is in. */
    put,
    /** Like `put`, in a separate transaction; waits for the store. */
    record: (writes: AlertWrites): Promise<void> => record(() => put(writes)),
    /** Puts one delivery in the place of others: their digest. Waits for the store. */
    replace: (ids: readonly string[], delivery: Delivery): Promise<void> =>
      record(() => {
        for (const id of ids) remove.run(id);
        put({ states: [], deliveries: [delivery] });
      }),
    states: (): readonly RuleState[] =>
      states.all().map((row) => ({ ...row }) as unknown as RuleState),
    /** The oldest of a target that are due, or planned by a clock that was ahead, after all writes that were begun before; epoch ms. */
    due: (target: string, now: number, limit: number): Promise<readonly StoredDelivery[]> =>
      write(() => rows(due.all({ target, now, limit }))),
    /** When the next delivery of a target is due, epoch ms; null when none waits. */
    nextAt: (target: string): number | null => numberOrNull(next.get(target)?.at),
    /** Names of targets with waiting deliveries. */
    waitingTargets: (): readonly string[] => waiting.all().map(({ target }) => String(target)),
    /** Records an attempt. Waits for the store. */
    attempted: (id: string, result: AttemptRecord): Promise<void> =>
      record(() => void attempt.run({ id, state: stateAfter(result), ...attemptOf(result) })),
    /** Drops a delivery. Waits for the store. */
    remove: (id: string): Promise<void> => record(() => void remove.run(id)),
    /** A question has ended: its waiting deliveries, and its messages that can be edited, are due at `now`. */
    endQuestion: (id: string, now: number): Promise<void> =>
      record(() => {
        endQuestion.run({ id, now });
        giveUp.run(id);
      }),
    /** Ids of questions with waiting deliveries or messages that can be edited. */
    questions: (): readonly string[] => notEdited.all().map(({ question }) => String(question)),
    /** Makes a dead delivery, or one whose attempt failed, due at `now`; false if no such delivery exists. */
    retry: (id: string, now: number): Promise<boolean> =>
      write(() => again.run({ now, id }).changes === 1),
    /** Makes all failed and dead deliveries of a target that accepts again due at `now`, and forgets their errors. */
    retryFailed: (target: string, now: number): Promise<void> =>
      record(() => void failedAgain.run({ now, target })),
    /** Records that a target refuses everything, and why; null once it is used again. */
    switchOff: (target: string, why: SwitchedOff | null): Promise<void> =>
      record(() => {
        if (why === null) on.run(target);
        else off.run(target, why.at, why.reason);
      }),
    switchedOff: prepareSwitchedOff(db),
    /** Newest first. */
    list: (filter: AlertsQuery): readonly StoredDelivery[] => list(db, filter),
    /** Waiting and dead deliveries of each target that ever had one. */
    targetDeliveries: prepareTargetDeliveries(db),
    /** The number of dead deliveries to these targets, by agent. */
    deadByAgent: prepareDeadByAgent(db),
  };
}

export type AlertStore = ReturnType<typeof createAlertStore>;

function prepareDeadByAgent(db: DatabaseSync) {
  const dead = db.prepare(
    `SELECT alert ->> 'agent' AS agent, count(*) AS n FROM outbox
     WHERE state = 'dead' AND target IN (SELECT value FROM json_each(?)) GROUP BY 1`,
  );
  return (targets: readonly string[]): ReadonlyMap<string, number> =>
    new Map(
      dead.all(JSON.stringify(targets)).map(({ agent, n }) => [String(agent), Number(n)] as const),
    );
}

function preparePut(db: DatabaseSync): (writes: AlertWrites) => void {
  const insert = db.prepare(
    "INSERT OR IGNORE INTO outbox (id, at, target, alert, next_at, question) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const set = db.prepare(
    `INSERT INTO rule_states VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`,
  );
  const forget = db.prepare("DELETE FROM rule_states WHERE agent = ? AND rule = ?");
  return ({ states, deliveries }) => {
    for (const { agent, rule, value } of states) {
      if (value === null) forget.run(agent, rule);
      else set.run(agent, rule, value);
    }
    for (const { id, at, target, alert, nextAt } of deliveries)
      insert.run(id, at, target, JSON.stringify(alert), nextAt, alert.question ?? null);
  };
}

const conditions = {
  state: "state = :state",
  target: "target = :target",
  before: "seq < (SELECT seq FROM outbox WHERE id = :before)",
};

function list(db: DatabaseSync, { limit, ...filter }: AlertsQuery): readonly StoredDelivery[] {
  const { where, values } = whereOf(conditions, filter);
  const select = db.prepare(
    `SELECT ${columns} FROM outbox ${where} ORDER BY seq DESC LIMIT :limit`,
  );
  return rows(select.all({ ...values, limit }));
}

function rows(found: readonly unknown[]): readonly StoredDelivery[] {
  return found.map((row) => withJson(row, "alert"));
}

function stateAfter({ type }: AttemptRecord): StoredDelivery["state"] {
  return type === "retry" ? "waiting" : type;
}

/** When the delivery is due next, its error and its end; null keeps the first two. */
function attemptOf(result: AttemptRecord) {
  const none = { nextAt: null, error: null, endedAt: null, receipt: null };
  switch (result.type) {
    case "sent":
      return { ...none, endedAt: result.at, receipt: result.receipt ?? null };
    case "retry":
      return { ...none, nextAt: result.nextAt, error: result.error };
    case "dead":
      return { ...none, endedAt: result.at, error: result.error };
  }
}

function numberOrNull(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}

/** Reads the targets that are switched off, by their names. */
export function prepareSwitchedOff(db: DatabaseSync): () => ReadonlyMap<string, SwitchedOff> {
  const all = db.prepare("SELECT target, at, reason FROM targets_off");
  return () =>
    new Map(
      all
        .all()
        .map(({ target, at, reason }) => [
          String(target),
          { at: Number(at), reason: String(reason) },
        ]),
    );
}

const none: TargetDeliveries = { waiting: 0, dead: 0, lastError: null };

/** Reads the deliveries of each target from `outbox`. */
function prepareTargetDeliveries(db: DatabaseSync): () => ReadonlyMap<string, TargetDeliveries> {
  // SQLite takes `last_error` of the row that has the maximum.
  const waiting = db.prepare(
    `SELECT target, count(*) AS count, max(iif(last_error IS NULL, NULL, next_at)), last_error AS error
     FROM outbox WHERE state = 'waiting' GROUP BY target`,
  );
  const dead = db.prepare(
    `SELECT target, count(*) AS count, max(ended_at) AS endedAt, last_error AS error
     FROM outbox WHERE state = 'dead' GROUP BY target`,
  );
  const acceptedSince = db.prepare(
    "SELECT 1 FROM outbox WHERE target = ? AND state = 'sent' AND ended_at > ? LIMIT 1",
  );
  return () => {
    const found = new Map<string, TargetDeliveries>();
    for (const row of waiting.all()) {
      const lastError = textOrNull(row.error);
      found.set(String(row.target), { waiting: Number(row.count), dead: 0, lastError });
    }
    for (const { target, count, endedAt = null, error } of dead.all()) {
      const name = String(target);
      const known = found.get(name) ?? none;
      const isAccepting = acceptedSince.get(name, endedAt) !== undefined;
      const lastError = known.lastError ?? (isAccepting ? null : textOrNull(error));
      found.set(name, { ...known, dead: Number(count), lastError });
    }
    return found;
  };
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
