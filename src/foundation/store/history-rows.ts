import { historyEntrySchema } from "../contracts/history.ts";
import type { HistoryEntry } from "../contracts/history.ts";

/** An entry as it is stored. */
export interface EntryRow extends Omit<
  HistoryEntry,
  "at" | "startedAt" | "endedAt" | "deadLetter" | "value"
> {
  readonly seq: number;
  readonly at: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly deadLetter: number;
  /** The beginning of its JSON. */
  readonly value: string | null;
}

/** Characters of a run's value that a page shows. */
const shownValue = 1000;

/** The columns of an entry, from `triggers`. */
export const entryColumns = `seq, id, at, kind, agent, source, event, action, receipt_id AS receiptId,
  instance_id AS instanceId, outcome, dead_letter AS deadLetter, reason, attempt, started_at AS startedAt,
  ended_at AS endedAt, ended_at - started_at AS durationMs, exit_code AS exitCode, model, tokens,
  cost_usd AS costUsd, call_id AS callId, caller, replay_of AS replayOf, version, substr(value, 1, ${shownValue + 1}) AS value,
  CASE WHEN started_at IS NULL THEN 0 ELSE
    (SELECT count(*) FROM triggers AS made WHERE made.caller = triggers.instance_id AND made.attempt = 1
       AND made.replay_of IS NULL)
  END AS calls`;

/** The wire's shape; parsing it drops what is the store's own and holds the rows to the contract. */
export function entryOf(row: EntryRow): HistoryEntry {
  return historyEntrySchema.parse({
    ...row,
    at: iso(row.at),
    startedAt: row.startedAt === null ? null : iso(row.startedAt),
    endedAt: row.endedAt === null ? null : iso(row.endedAt),
    deadLetter: row.deadLetter === 1,
    value: row.value === null ? null : shown(row.value),
  });
}

function shown(json: string): unknown {
  return json.length > shownValue ? `${json.slice(0, shownValue)}…` : JSON.parse(json);
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
