import type { DatabaseSync } from "node:sqlite";
import type { NanoUsd } from "../contracts/money.ts";
import type { SpendKey } from "../contracts/spend-options.ts";

/** What calls cost together. */
export interface SpendRow {
  /** An agent, a model's name in the project, or a day of the project's time zone. */
  readonly key: string;
  /** With what open calls reserved, without what subscriptions paid. */
  readonly nano: NanoUsd;
  /** What calls would have cost that subscriptions paid. */
  readonly subscriptionNano: NanoUsd;
  readonly calls: number;
  /** Tokens of requests and answers, including cached ones. */
  readonly tokens: number;
  /** Calls whose price is not known. */
  readonly unpriced: number;
  /** Calls whose tokens were worked out from bytes, or that count as they were reserved. */
  readonly estimated: number;
}

export interface SpendQuery {
  readonly by: SpendKey;
  /** Epoch ms. */
  readonly since: number;
  /** Null for all. */
  readonly agent: string | null;
}

/** Tokens of calls. */
export const tokenSum =
  "total(coalesce(input, 0) + coalesce(cache_read, 0) + coalesce(cache_write, 0) + coalesce(output, 0))";

/** Amounts are read as REAL: what is beyond an exact number of JavaScript could not be read at all. */
export const callSums = `total(CASE billing WHEN 'subscription' THEN 0 ELSE nano_usd + coalesce(reserved, 0) END) AS nano,
  total(CASE billing WHEN 'subscription' THEN nano_usd ELSE 0 END) AS subscriptionNano,
  count(*) AS calls,
  ${tokenSum} AS tokens,
  sum(billing = 'unpriced') AS unpriced,
  sum(estimated) AS estimated`;

/** The same of `model_call_days`. */
const daySums = `total(nano) AS nano, total(subscription_nano) AS subscriptionNano, sum(calls) AS calls,
  total(tokens) AS tokens, sum(unpriced) AS unpriced, sum(estimated) AS estimated`;

/** A day is never longer, nor does its name come again later, in ms. */
const longestDayMs = 50 * 3_600_000;

/** Adds up what calls cost: whole days from their sums, and only the calls of a day that `since` cuts in two. */
export function spendRows(db: DatabaseSync, { by, since, agent }: SpendQuery): readonly SpendRow[] {
  const first = dayOfCall(db, ">= ? ORDER BY at, seq", since);
  if (first === null) return [];
  const isCut = dayOfCall(db, "< ? ORDER BY at DESC, seq DESC", since) === first;
  const days = `SELECT ${by} AS key, ${daySums} FROM model_call_days
    WHERE day ${isCut ? ">" : ">="} :first AND (:agent IS NULL OR agent = :agent) GROUP BY 1`;
  const calls = `SELECT ${by} AS key, ${callSums} FROM model_calls INDEXED BY model_calls_by_time
    WHERE at >= :since AND at < :until AND day = :first AND (:agent IS NULL OR agent = :agent) GROUP BY 1`;
  const order = by === "day" ? "key" : "nano DESC, key";
  if (!isCut) {
    const select = db.prepare(`${days} ORDER BY ${order}`);
    return select.all({ first, agent }).map(rowOf);
  }
  const select = db.prepare(
    `SELECT key, sum(nano) AS nano, sum(subscriptionNano) AS subscriptionNano, sum(calls) AS calls,
       sum(tokens) AS tokens, sum(unpriced) AS unpriced, sum(estimated) AS estimated
     FROM (${days} UNION ALL ${calls}) GROUP BY 1 ORDER BY ${order}`,
  );
  return select.all({ first, agent, since, until: since + longestDayMs }).map(rowOf);
}

function rowOf(row: object): SpendRow {
  return { ...(row as SpendRow) };
}

/** The day, in the project's time zone then, of the first call that meets the condition; null when there is none. */
function dayOfCall(db: DatabaseSync, condition: string, at: number): string | null {
  const row = db.prepare(`SELECT day FROM model_calls WHERE at ${condition} LIMIT 1`).get(at);
  return row === undefined ? null : String(row.day);
}
