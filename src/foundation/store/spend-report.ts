import type { DatabaseSync } from "node:sqlite";
import type { NanoUsd } from "../contracts/money.ts";
import type { AgentRuns } from "../contracts/spend.ts";
import { refusedOutcomes } from "../contracts/state-word.ts";
import { bucketMs } from "./history-window.ts";
import { openTriggers } from "./open-triggers.ts";
import { callSums, spendRows } from "./spend-rows.ts";
import type { SpendQuery, SpendRow } from "./spend-rows.ts";

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
  /** By agent, with the costs of so many runs; agents without a run that asked a model are left out. Null for all agents. */
  lastRuns(limit: number, agents?: readonly string[] | null): ReadonlyMap<string, AgentRuns>;
}

/** Reads `model_calls`, `spend` and `triggers`. `now` gives epoch ms. */
export function createSpendReport(db: DatabaseSync, now: () => number = Date.now): SpendReport {
  return {
    rows: (query) => spendRows(db, query),
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
      const select = `SELECT instance_id AS key, ${callSums} FROM model_calls WHERE instance_id = ? GROUP BY 1`;
      const row = db.prepare(select).get(instanceId) as unknown as SpendRow | undefined;
      return row === undefined ? noCalls(instanceId) : { ...row };
    },
    lastRuns: (limit, agents = null) => lastRuns(db, limit, agents, now()),
  };
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
const refused = refusedOutcomes.map((outcome) => `'${outcome}'`).join(", ");

/**
 * Runs of 30 days by webhooks and calls. An agent that is younger has its rate since its first trigger. Counted from the
 * history's own counts, to three hours: a busy agent has a hundred thousand rows.
 */
function prepareTriggered(db: DatabaseSync, now: number): (agent: string) => number {
  const select = db.prepare(
    `SELECT min(bucket) AS oldest, sum(n) FILTER (WHERE ${kinds} AND outcome NOT IN (${refused})) AS runs
     FROM trigger_counts WHERE agent = ? AND bucket >= ?`,
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
    const started = Number(runs) - (waits.get(agent) ?? 0);
    return (started * monthMs) / Math.max(dayMs, now - Number(oldest) * bucketMs);
  };
}
