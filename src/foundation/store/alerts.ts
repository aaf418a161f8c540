import type { DatabaseSync } from "node:sqlite";
import type { Alert, AlertWrites, RuleState, StoredDelivery } from "../contracts/alert.ts";
import type { AlertStore, AttemptRecord, DeliveryFilter } from "../contracts/alerts.ts";
import type { GroupCommit } from "./group-commit.ts";
import { prepareSwitchedOff } from "./switched-off.ts";
import { prepareTargetDeliveries } from "./target-deliveries.ts";

interface OutboxRow extends Omit<StoredDelivery, "alert"> {
  readonly alert: string;
}

/** Nothing is planned for later than this from now, in ms, but by a clock that was set back since. */
const furthestMs = 27 * 3_600_000;

const columns = `id, at, target, alert, state, attempts, next_at AS nextAt, last_error AS lastError,
  ended_at AS endedAt`;

/** Reads and writes `outbox`, `rule_states` and `targets_off`. */
export function createAlerts(db: DatabaseSync, { write, record }: GroupCommit): AlertStore {
  const put = preparePut(db);
  const states = db.prepare("SELECT agent, rule, value FROM rule_states");
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
    `UPDATE outbox SET state = ?, attempts = attempts + 1, next_at = coalesce(?, next_at),
       last_error = coalesce(?, last_error), ended_at = ? WHERE id = ?`,
  );
  // What was never attempted and is not due may be a digest that grows: once sent, it takes no more alerts.
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
    put,
    record: (writes) => record(() => put(writes)),
    states: () => states.all().map((row) => ({ ...row }) as unknown as RuleState),
    due: (target, now, limit) => write(() => rows(due.all({ target, now, limit }))),
    nextAt: (target) => numberOrNull(next.get(target)?.at),
    waitingTargets: () => waiting.all().map(({ target }) => String(target)),
    attempted: (id, result) =>
      record(() => void attempt.run(stateAfter(result), ...attemptOf(result), id)),
    retry: (id, now) => write(() => again.run({ now, id }).changes === 1),
    retryFailed: (target, now) => record(() => void failedAgain.run({ now, target })),
    switchOff: (target, why) =>
      record(() => {
        if (why === null) on.run(target);
        else off.run(target, why.at, why.reason);
      }),
    switchedOff: prepareSwitchedOff(db),
    list: (filter) => list(db, filter),
    targetDeliveries: prepareTargetDeliveries(db),
  };
}

function preparePut(db: DatabaseSync): (writes: AlertWrites) => void {
  // What is under way or over stays as it was sent: a digest grows only until it is due.
  const insert = db.prepare(
    `INSERT INTO outbox (id, at, target, alert, next_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET alert = excluded.alert, next_at = excluded.next_at
       WHERE state = 'waiting' AND attempts = 0`,
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
      insert.run(id, at, target, JSON.stringify(alert), nextAt);
  };
}

function list(
  db: DatabaseSync,
  { state, target, before, limit }: DeliveryFilter,
): readonly StoredDelivery[] {
  const conditions = [
    ...(state === undefined ? [] : ["state = :state"]),
    ...(target === undefined ? [] : ["target = :target"]),
    ...(before === null ? [] : ["seq < (SELECT seq FROM outbox WHERE id = :before)"]),
  ];
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
  const select = db.prepare(
    `SELECT ${columns} FROM outbox ${where} ORDER BY seq DESC LIMIT :limit`,
  );
  select.setAllowUnknownNamedParameters(true);
  const values = { state: state ?? null, target: target ?? null, before, limit };
  return rows(select.all(values));
}

function rows(found: readonly unknown[]): readonly StoredDelivery[] {
  return (found as readonly OutboxRow[]).map((row) => ({
    ...row,
    alert: JSON.parse(row.alert) as Alert,
  }));
}

function stateAfter({ type }: AttemptRecord): StoredDelivery["state"] {
  return type === "retry" ? "waiting" : type;
}

/** When it is due next, the error, and when it ended; null leaves the first two as they were. */
function attemptOf(result: AttemptRecord): [number | null, string | null, number | null] {
  switch (result.type) {
    case "sent":
      return [null, null, result.at];
    case "retry":
      return [result.nextAt, result.error, null];
    case "dead":
      return [null, result.error, result.at];
  }
}

function numberOrNull(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}
