import type { DatabaseSync } from "node:sqlite";
import type { Outcome } from "../../../streams/vocabulary.ts";

/** An agent's latest run that is over, or that could not even start. Times are epoch ms; `endedAt` is null for a lost one. */
export interface LastRun {
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly outcome: Outcome;
  readonly reason: string | null;
}

/** Reads and writes `last_runs`: apart from history, so that neither its size nor its pruning matters. */
export function createLastRuns(db: DatabaseSync) {
  const select = db.prepare(
    `SELECT started_at AS startedAt, ended_at AS endedAt, outcome, reason FROM last_runs
     WHERE agent = ?`,
  );
  const upsert = db.prepare(
    `INSERT INTO last_runs (agent, started_at, ended_at, outcome, reason) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (agent) DO UPDATE SET started_at = excluded.started_at, ended_at = excluded.ended_at,
       outcome = excluded.outcome, reason = excluded.reason
     WHERE excluded.started_at >= last_runs.started_at`,
  );
  return {
    /** Null for an agent that has none. */
    of: (agent: string): LastRun | null => {
      const row = select.get(agent) as LastRun | undefined;
      return row === undefined ? null : { ...row };
    },
    /** Inside the caller's transaction; an earlier run than the one known changes nothing. */
    record: (agent: string, run: LastRun): void => {
      upsert.run(agent, run.startedAt, run.endedAt, run.outcome, run.reason);
    },
  };
}

export type LastRuns = ReturnType<typeof createLastRuns>;
