import { readBeside } from "../../foundation/store/read-beside.ts";
import { refusalOutcomes } from "../../../streams/outcomes.ts";
import type { DatabaseSync } from "node:sqlite";
import type { NanoUsd } from "../../foundation/contracts/money.ts";
import type { SpendKey } from "../../foundation/contracts/budget.ts";
import { bucketMs } from "../../foundation/store/history-filter.ts";
import { openTriggers } from "../../foundation/store/trigger-rows.ts";

/** Input of an agent's forecast. */
export interface AgentRuns {
  /** Costs of the agent's last ended runs that called a model, the latest first. */
  readonly costs: readonly NanoUsd[];
  /** Runs of 30 days that webhooks and calls start, by the rate of the last 30. */
  readonly triggered: number;
}

/** A call of a run to a model. */
export interface RunCall {
  /** Epoch ms. */
  readonly at: number;
  /** Null while it is open. */
  readonly totalMs: number | null;
  /** HTTP status of the provider; null when it gave no answer. */
  readonly status: number | null;
  /** The model's name in the project's config. */
  readonly model: string;
  /** Null if they are not known. */
  readonly tokens: number | null;
  /** Null if a subscription paid. */
  readonly usd: number | null;
}

/** More calls of one run are not listed. */
const mostCalls = 2_000;

/** An account as it is stored. */
interface SpendAccount {
  readonly scope: string;
  readonly window: string;
  readonly nano: NanoUsd;
  readonly reserved: NanoUsd;
  readonly raised: NanoUsd;
}

/** Reads `model_calls`, `spend` and `triggers`. `now` gives epoch ms. */
export function createCallTotals(db: DatabaseSync, now: () => number) {
  return {
    /** The largest first; days in their order. */
    rows: (query: SpendQuery): readonly SpendRow[] => spendRows(db, query),
    /** The accounts of these windows, such as today and this month. */
    accounts: (windows: readonly string[]): readonly SpendAccount[] => {
      const select = db.prepare(
        `SELECT scope, window, CAST(nano AS REAL) AS nano, CAST(reserved AS REAL) AS reserved,
           CAST(raised AS REAL) AS raised
         FROM spend WHERE window IN (SELECT value FROM json_each(?)) ORDER BY scope, window`,
      );
      const rows = select.all(JSON.stringify(windows));
      return rows.map((row) => ({ ...(row as unknown as SpendAccount) }));
    },
    /** The total of a run's calls; its key is the instance id. */
    run: (instanceId: string): SpendRow => {
      const select = `SELECT instance_id AS key, ${callSums} FROM model_calls WHERE instance_id = ? GROUP BY 1`;
      const row = db.prepare(select).get(instanceId) as unknown as SpendRow | undefined;
      return row === undefined ? noCalls(instanceId) : { ...row };
    },
    /** The last calls of a run, the oldest first. */
    callsOf: (instanceId: string): readonly RunCall[] => {
      const select = db.prepare(
        `SELECT at, iif(reserved IS NULL, coalesce(total_ms, 0), NULL) AS totalMs, status, model,
           input + coalesce(cache_read, 0) + coalesce(cache_write, 0) + output AS tokens,
           iif(billing = 'subscription', NULL, nano_usd / 1e9) AS usd
         FROM model_calls WHERE instance_id = ? ORDER BY seq DESC LIMIT ${mostCalls}`,
      );
      const rows = select.all(instanceId) as unknown as readonly RunCall[];
      return rows.map((row) => ({ ...row })).reverse();
    },
    /** By agent, with the costs of this many runs; agents without a run that called a model are omitted. Null for all agents. */
    lastRuns: (
      limit: number,
      agents: readonly string[] | null = null,
    ): ReadonlyMap<string, AgentRuns> => lastRuns(db, limit, agents, now()),
  };
}

/** The costs of each agent's last runs, and how many are triggered. Empty without recorded runs. */
export function readLastRuns(projectDir: string, limit: number): ReadonlyMap<string, AgentRuns> {
  const none = new Map<string, AgentRuns>();
  return readBeside(projectDir, (db) => createCallTotals(db, Date.now).lastRuns(limit), none);
}

function noCalls(key: string): SpendRow {
  return { key, nano: 0, subscriptionNano: 0, calls: 0, tokens: 0, unpriced: 0, estimated: 0 };
}

/** Each agent is a seek of its own in the index: the table may hold the runs of weeks. */
function lastRuns(
  db: DatabaseSync,
  limit: number,
  agents: readonly string[] | null,
  now: number,
): ReadonlyMap<string, AgentRuns> {
  const ofAgent = db.prepare(
    `SELECT nano FROM spend WHERE agent = ? AND scope NOT IN
       (SELECT 'run:' || instance_id FROM ${openTriggers} AND instance_id IS NOT NULL)
     ORDER BY until DESC LIMIT ?`,
  );
  const triggeredOf = prepareTriggered(db, now);
  return new Map(
    (agents ?? allAgents(db)).flatMap((name) => {
      const costs = ofAgent.all(name, limit).map(({ nano }) => Number(nano));
      return costs.length === 0 ? [] : [[name, { costs, triggered: triggeredOf(name) }]];
    }),
  );
}

function allAgents(db: DatabaseSync): readonly string[] {
  const select = db.prepare("SELECT DISTINCT agent FROM spend WHERE agent IS NOT NULL ORDER BY 1");
  return select.all().map(({ agent }) => String(agent));
}

const dayMs = 86_400_000;
const monthMs = 30 * dayMs;
const kinds = "kind IN ('webhook', 'agent-call')";
const refused = refusalOutcomes.map((outcome) => `'${outcome}'`).join(", ");
const superseded = ["webhook", "agent-call"]
  .flatMap((kind) => [0, 1].map((dead) => `'${kind}/superseded/${dead}'`))
  .join(", ");

/**
 * Runs of 30 days by webhooks and calls. A younger agent has its rate since its first trigger. Read from the history's
 * own counts, to three hours: a busy agent has a hundred thousand rows.
 */
function prepareTriggered(db: DatabaseSync, now: number): (agent: string) => number {
  const select = db.prepare(
    `SELECT min(bucket) AS oldest, sum(n) FILTER (WHERE ${kinds} AND outcome NOT IN (${refused})) AS runs
     FROM trigger_counts WHERE agent = ? AND bucket >= ?`,
  );
  // The count of superseded work includes runs and work without one.
  const ended = db.prepare(
    `SELECT count(*) AS n FROM triggers INDEXED BY triggers_by_agent_class
     WHERE agent = ? AND class IN (${superseded}) AND at >= ? AND instance_id IS NOT NULL`,
  );
  const waiting = db
    .prepare(
      `SELECT agent, count(*) AS n FROM ${openTriggers} AND state = 'queued' AND ${kinds} GROUP BY agent`,
    )
    .all();
  const waits = new Map(waiting.map(({ agent, n }) => [agent, Number(n)]));
  return (agent) => {
    const { oldest = null, runs = 0 } = select.get(agent, (now - monthMs) / bucketMs) ?? {};
    if (oldest === null) return 0;
    const stopped = Number(ended.get(agent, now - monthMs)?.n);
    const started = Number(runs) - (waits.get(agent) ?? 0) + stopped;
    return (started * monthMs) / Math.max(dayMs, now - Number(oldest) * bucketMs);
  };
}

/** The total of some calls. */
export interface SpendRow {
  /** An agent, a model's name in the project, or a day of the project's time zone. */
  readonly key: string;
  /** Without reservations of open calls, and without calls that subscriptions paid. */
  readonly nano: NanoUsd;
  /** The cost by price of calls that subscriptions paid. */
  readonly subscriptionNano: NanoUsd;
  readonly calls: number;
  /** Tokens of requests and answers, including cached ones. */
  readonly tokens: number;
  /** Calls without a known price. */
  readonly unpriced: number;
  /** Calls whose tokens were estimated from bytes, or that count as reserved. */
  readonly estimated: number;
}

interface SpendQuery {
  readonly by: SpendKey;
  /** Epoch ms. */
  readonly since: number;
  /** Null for all. */
  readonly agent: string | null;
}

/** Tokens of calls. */
export const tokenSum =
  "total(coalesce(input, 0) + coalesce(cache_read, 0) + coalesce(cache_write, 0) + coalesce(output, 0))";

/** Amounts are read as REAL: integers beyond the exact numbers of JavaScript can't be read. */
const callSums = `total(CASE billing WHEN 'subscription' THEN 0 ELSE nano_usd END) AS nano,
  total(CASE billing WHEN 'subscription' THEN nano_usd ELSE 0 END) AS subscriptionNano,
  count(*) AS calls,
  ${tokenSum} AS tokens,
  sum(billing = 'unpriced') AS unpriced,
  sum(estimated) AS estimated`;

/** The same sums over `model_call_days`. */
const daySums = `total(nano) AS nano, total(subscription_nano) AS subscriptionNano, sum(calls) AS calls,
  total(tokens) AS tokens, sum(unpriced) AS unpriced, sum(estimated) AS estimated`;

/** No day is longer, and its name does not return later, in ms. */
const longestDayMs = 50 * 3_600_000;

/** Subtracts the reservations of open calls, which the sums of days include. */
const heldSums = `-total(reserved) AS nano, 0 AS subscriptionNano, 0 AS calls, 0 AS tokens, 0 AS unpriced,
  0 AS estimated`;

/** Adds up the cost of calls: whole days from their sums, and only the calls of a day that `since` cuts in two. */
function spendRows(db: DatabaseSync, { by, since, agent }: SpendQuery): readonly SpendRow[] {
  const first = dayOfCall(db, ">= ? ORDER BY at, seq", since);
  if (first === null) return [];
  const isCut = dayOfCall(db, "< ? ORDER BY at DESC, seq DESC", since) === first;
  const whole = `day ${isCut ? ">" : ">="} :first AND (:agent IS NULL OR agent = :agent)`;
  const days = `SELECT ${by} AS key, ${daySums} FROM model_call_days WHERE ${whole} GROUP BY 1`;
  const held = `SELECT ${by} AS key, ${heldSums} FROM model_calls INDEXED BY model_calls_open
    WHERE reserved IS NOT NULL AND billing <> 'subscription' AND ${whole} GROUP BY 1`;
  const calls = `SELECT ${by} AS key, ${callSums} FROM model_calls INDEXED BY model_calls_by_time
    WHERE at >= :since AND at < :until AND day = :first AND (:agent IS NULL OR agent = :agent) GROUP BY 1`;
  const order = by === "day" ? "key" : "nano DESC, key";
  const select = db.prepare(
    `SELECT key, sum(nano) AS nano, sum(subscriptionNano) AS subscriptionNano, sum(calls) AS calls,
       sum(tokens) AS tokens, sum(unpriced) AS unpriced, sum(estimated) AS estimated
     FROM (${[days, held, ...(isCut ? [calls] : [])].join(" UNION ALL ")}) GROUP BY 1 ORDER BY ${order}`,
  );
  const ofCut = isCut ? { since, until: since + longestDayMs } : {};
  return select.all({ first, agent, ...ofCut }).map(rowOf);
}

function rowOf(row: object): SpendRow {
  return { ...(row as SpendRow) };
}

/** The day, in the project's time zone then, of the first call that meets the condition; null if no call does. */
function dayOfCall(db: DatabaseSync, condition: string, at: number): string | null {
  const row = db.prepare(`SELECT day FROM model_calls WHERE at ${condition} LIMIT 1`).get(at);
  return row === undefined ? null : String(row.day);
}
