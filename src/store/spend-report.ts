import type { DatabaseSync } from "node:sqlite";
import type { NanoUsd } from "../../streams/spend/money.ts";
import type { AgentRuns } from "../contracts/spend.ts";
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
  /** Of requests and answers, cached ones among them. */
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

/** An account as it is stored. */
export interface SpendAccount {
  readonly scope: string;
  readonly window: string;
  readonly nano: NanoUsd;
  readonly reserved: NanoUsd;
  readonly raised: NanoUsd;
}

/** Answers about spending. */
export interface SpendReport {
  /** The largest first, days in their order. */
  rows(query: SpendQuery): readonly SpendRow[];
  /** The accounts of these windows, such as today and this month. */
  accounts(windows: readonly string[]): readonly SpendAccount[];
  /** What all calls of a run cost together; its key is the instance id. */
  run(instanceId: string): SpendRow;
  /** By agent, with the costs of so many runs; agents without a run that asked a model are left out. */
  lastRuns(limit: number): ReadonlyMap<string, AgentRuns>;
}

/** Amounts are read as REAL: what is beyond an exact number of JavaScript could not be read at all. */
const sums = `total(CASE billing WHEN 'subscription' THEN 0 ELSE nano_usd + coalesce(reserved, 0) END) AS nano,
  total(CASE billing WHEN 'subscription' THEN nano_usd ELSE 0 END) AS subscriptionNano,
  count(*) AS calls,
  sum(coalesce(input, 0) + coalesce(cache_read, 0) + coalesce(cache_write, 0) + coalesce(output, 0)) AS tokens,
  sum(billing = 'unpriced') AS unpriced,
  sum(estimated) AS estimated`;

/** Reads `model_calls`, `spend` and `triggers`. `now` gives epoch ms. */
export function createSpendReport(db: DatabaseSync, now: () => number = Date.now): SpendReport {
  return {
    rows: ({ by, since, agent }) => {
      const order = by === "day" ? "key" : "nano DESC, key";
      const ofAgent = agent === null ? "" : "AND agent = ?";
      const select = db.prepare(
        `SELECT ${by} AS key, ${sums} FROM model_calls WHERE at >= ? ${ofAgent}
         GROUP BY 1 ORDER BY ${order}`,
      );
      const rows = select.all(since, ...(agent === null ? [] : [agent]));
      return rows.map((row) => ({ ...(row as unknown as SpendRow) }));
    },
    accounts: (windows) => {
      const select = db.prepare(
        `SELECT scope, window, CAST(nano AS REAL) AS nano, CAST(reserved AS REAL) AS reserved,
           CAST(raised AS REAL) AS raised
         FROM spend WHERE window IN (SELECT value FROM json_each(?)) ORDER BY scope, window`,
      );
      const rows = select.all(JSON.stringify(windows));
      return rows.map((row) => ({ ...(row as unknown as SpendAccount) }));
    },
    run: (instanceId) => {
      const select = `SELECT instance_id AS key, ${sums} FROM model_calls WHERE instance_id = ? GROUP BY 1`;
      const row = db.prepare(select).get(instanceId) as unknown as SpendRow | undefined;
      return row === undefined ? noCalls(instanceId) : { ...row };
    },
    lastRuns: (limit) => lastRuns(db, limit, now()),
  };
}

function noCalls(key: string): SpendRow {
  return { key, nano: 0, subscriptionNano: 0, calls: 0, tokens: 0, unpriced: 0, estimated: 0 };
}

/** Each agent is a seek of its own in the index: the table may hold the runs of weeks. */
function lastRuns(db: DatabaseSync, limit: number, now: number): ReadonlyMap<string, AgentRuns> {
  const agents = db.prepare("SELECT DISTINCT agent FROM spend WHERE agent IS NOT NULL ORDER BY 1");
  const ofAgent = db.prepare(
    `SELECT nano FROM spend WHERE agent = ? AND scope NOT IN
       (SELECT 'run:' || instance_id FROM triggers WHERE state <> 'ended' AND instance_id IS NOT NULL)
     ORDER BY until DESC LIMIT ?`,
  );
  const triggeredOf = prepareTriggered(db, now);
  return new Map(
    agents.all().map(({ agent }) => {
      const name = String(agent);
      const costs = ofAgent.all(name, limit).map(({ nano }) => Number(nano));
      return [name, { costs, triggered: triggeredOf(name) }];
    }),
  );
}

const dayMs = 86_400_000;
const monthMs = 30 * dayMs;

/** Runs of 30 days by webhooks and calls. An agent that is younger has its rate since its first trigger. */
function prepareTriggered(db: DatabaseSync, now: number): (agent: string) => number {
  const select = db.prepare(
    `SELECT min(at) AS oldest,
       count(*) FILTER (WHERE kind IN ('webhook', 'agent-call') AND started_at IS NOT NULL) AS runs
     FROM triggers WHERE agent = ? AND at >= ?`,
  );
  return (agent) => {
    const { oldest = null, runs = 0 } = select.get(agent, now - monthMs) ?? {};
    if (oldest === null) return 0;
    return (Number(runs) * monthMs) / Math.max(dayMs, now - Number(oldest));
  };
}
