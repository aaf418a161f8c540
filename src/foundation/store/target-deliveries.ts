import type { DatabaseSync } from "node:sqlite";
import type { TargetDeliveries } from "../contracts/alerts.ts";

const none: TargetDeliveries = { waiting: 0, dead: 0, lastError: null };

/** Reads of `outbox` what there is for each target. */
export function prepareTargetDeliveries(
  db: DatabaseSync,
): () => ReadonlyMap<string, TargetDeliveries> {
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
