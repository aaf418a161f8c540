import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openStore } from "../../../src/foundation/store/store.ts";
import type { ProjectSize } from "./large-project.ts";

const dayMs = 86_400_000;
/** How far back the made runs go. */
export const spanMs = 13 * dayMs;

/** The event of a delivery, as long as GitHub's are on average. */
const event = JSON.stringify({
  ...{ source: "github", type: "github", event: "issues", action: "opened", repo: "acme/app" },
  ...{ number: 4711, title: "The export stops after the first page", body: "x".repeat(400) },
  ...{ url: "https://github.com/acme/app/issues/4711", author: "octocat", labels: ["bug"] },
  ...{ sender: "octocat", branch: null, conclusion: null, timestamp: "2026-11-01T12:00:00.000Z" },
});

/** `agent-0007`, as agentName() makes it. */
const agentOf = (agents: number): string => `'agent-' || printf('%04d', i * 104729 % ${agents})`;

/** The eight characters at the end of an instance id, none of them a digit. */
const idOf = "translate_digits(printf('%08x', i * 2654435761 % 4294967296))";

/**
 * Fills the store with runs of the last two weeks, spread over all agents: half by webhooks, the rest by schedules and
 * people; one call to a model each. Made by SQL: a million runs through the store's own writes would take many minutes.
 */
export function fillHistory(projectDir: string, { agents, runs }: ProjectSize): void {
  openStore(projectDir).close();
  const db = new DatabaseSync(join(projectDir, ".al", "state.db"));
  db.function("translate_digits", (hex) =>
    String(hex).replace(/\d/g, (digit) => "ghjkmnpqrs"[Number(digit)] ?? "g"),
  );
  db.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; BEGIN");
  db.exec(triggersSql(agents, runs));
  db.exec(modelCallsSql);
  db.exec(spendSql);
  db.exec(lastRunsSql);
  db.exec(contentsSql);
  db.exec("COMMIT");
  db.close();
}

function triggersSql(agents: number, runs: number): string {
  const from = Date.now() - spanMs;
  const at = `${from} + CAST(i * ${spanMs / runs} AS INTEGER)`;
  return `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${runs - 1}),
      run AS (SELECT i, ${at} AS at, ${agentOf(agents)} AS agent, ${idOf} AS id,
        CASE i % 10 WHEN 0 THEN 'manual' WHEN 1 THEN 'cron' WHEN 2 THEN 'cron' WHEN 3 THEN 'cron' WHEN 4 THEN 'cron'
          ELSE 'webhook' END AS kind, i * 31 % 20 = 0 AS failed FROM n)
    INSERT INTO triggers (id, at, kind, agent, source, event, action, instance_id, state, outcome, dead_letter, reason,
      attempt, started_at, ended_at, exit_code, model, tokens, cost_usd, trigger, value, version)
    SELECT printf('019a0000-0000-7000-8000-%012x', i), at, kind, agent,
      iif(kind = 'webhook', 'github', NULL), iif(kind = 'webhook', 'issues', NULL), iif(kind = 'webhook', 'opened', NULL),
      agent || '-' || id, 'ended', iif(failed, 'failed', 'succeeded'), 0, iif(failed, 'exit code 1', NULL),
      1, at + 200, at + 200 + i * 7919 % 180000, failed, 'scripted', 900 + i % 700, 0.01 * (i % 40),
      CASE kind WHEN 'webhook' THEN '{"kind":"webhook","event":' || '${event}' || '}'
        WHEN 'cron' THEN '{"kind":"cron","scheduledFor":' || at || '}'
        ELSE '{"kind":"manual","prompt":null}' END,
      '{"summary":"Labelled acme/app#' || i || ': bug, needs reproduction."}',
      'c0ffee00c0ffee00c0ffee00' || agent FROM run`;
}

const modelCallsSql = `INSERT INTO model_calls (at, day, instance_id, agent, model, provider_model, billing, status,
    input, cache_read, cache_write, cache_write_1h, output, nano_usd, first_byte_ms, total_ms)
  SELECT started_at, date(started_at / 1000, 'unixepoch'), instance_id, agent, 'scripted', 'scripted', 'priced', 200,
    tokens - 80, 0, 0, 0, 80, CAST(cost_usd * 1e9 AS INTEGER), 400, 2000 FROM triggers`;

/** The accounts of each run, of each agent's and the project's days and months. */
const spendSql = `INSERT INTO spend (scope, window, until, agent, nano, turns)
    SELECT 'run:' || instance_id, 'run', at, agent, sum(nano_usd), count(*) FROM model_calls GROUP BY instance_id;
  INSERT INTO spend (scope, window, until, nano)
    SELECT 'agent:' || agent, day, (unixepoch(day) + 86400) * 1000, sum(nano_usd) FROM model_calls GROUP BY agent, day;
  INSERT INTO spend (scope, window, until, nano)
    SELECT 'agent:' || agent, substr(day, 1, 7), unixepoch(substr(day, 1, 7) || '-01', '+1 month') * 1000, sum(nano_usd)
    FROM model_calls GROUP BY agent, substr(day, 1, 7);
  INSERT INTO spend (scope, window, until, nano)
    SELECT 'project', day, (unixepoch(day) + 86400) * 1000, sum(nano_usd) FROM model_calls GROUP BY day`;

const lastRunsSql = `INSERT INTO last_runs (agent, started_at, ended_at, outcome, reason)
  SELECT agent, max(started_at), ended_at, outcome, reason FROM triggers GROUP BY agent`;

const contentsSql = `INSERT INTO run_contents (hash, content)
  SELECT DISTINCT version, '{"config":"' || printf('%.600c', 'c') || '","instructions":"' || printf('%.1500c', 'i') || '"}'
  FROM triggers`;
