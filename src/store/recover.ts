import type { DatabaseSync } from "node:sqlite";
import type { Trigger, WorkItem } from "../../streams/vocabulary.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { LastRuns } from "./last-runs.ts";
import { prepareInsert, queuedRow } from "./trigger-rows.ts";
import { uuidV7 } from "./uuid-v7.ts";

/** A run that was going when the scheduler died. `startedAt` is epoch ms. */
export interface OpenRun {
  readonly item: WorkItem;
  readonly instanceId: string;
  readonly startedAt: number;
  /** For how long its clock has stood by now, in ms: it waited for something, and may wait still. */
  readonly waitedMs: number;
}

/** A run that nobody can tell the end of; `retry` is its work once more, null when this was the second try. */
export interface LostRun extends OpenRun {
  readonly retry: WorkItem | null;
}

/** What an earlier scheduler left. */
export interface Recovered {
  /** What waits, in order: retries of lost runs at the places of their first tries. */
  readonly requeue: readonly WorkItem[];
  readonly lost: readonly LostRun[];
  /** Runs that go on under the new scheduler. */
  readonly adopted: readonly OpenRun[];
}

interface OpenRow {
  readonly id: string;
  readonly at: number;
  readonly agent: string;
  readonly attempt: number;
  readonly trigger: string;
  readonly state: "queued" | "running";
  readonly instanceId: string;
  readonly startedAt: number;
  readonly waitedMs: number;
  /** Since when it waits, epoch ms; null when it does not. */
  readonly waitsSince: number | null;
}

/** How often work is tried whose run was lost. */
const maxAttempts = 2;

/**
 * Takes over from a dead scheduler, in one transaction: what waited waits again, and runs that are not among
 * `alive` (instance ids) are recorded as `lost` and their work waits once more as a new item of the next attempt. What
 * they held is free.
 */
export function recover(
  db: DatabaseSync,
  { write }: GroupCommit,
  lastRuns: LastRuns,
  alive: ReadonlySet<string>,
  now: () => number,
): Promise<Recovered> {
  return write(() => {
    const open = openRows(db);
    const runs = runsAmong(open, now());
    const gone = runs.filter((run) => !alive.has(run.instanceId));
    const lost = recordLost(db, lastRuns, gone);
    forgetOthers(db, alive);
    const retries = new Map(lost.map(({ item, retry }) => [item.id, retry]));
    const requeue = open.flatMap((row) => {
      const item = row.state === "queued" ? itemOf(row) : retries.get(row.id);
      return item ? [item] : [];
    });
    return { requeue, lost, adopted: runs.filter((run) => alive.has(run.instanceId)) };
  });
}

/** The runs that were going when the scheduler died. */
export function openRuns(db: DatabaseSync, now: number): readonly OpenRun[] {
  return runsAmong(openRows(db), now);
}

function runsAmong(open: readonly OpenRow[], now: number): OpenRun[] {
  return open.filter((row) => row.state === "running").map((row) => openRun(row, now));
}

function forgetOthers(db: DatabaseSync, alive: ReadonlySet<string>): void {
  for (const table of ["locks", "waits", "answers"]) {
    db.prepare(
      `DELETE FROM ${table} WHERE instance_id NOT IN (SELECT value FROM json_each(?))`,
    ).run(JSON.stringify([...alive]));
  }
}

function openRows(db: DatabaseSync): OpenRow[] {
  const select = db.prepare(
    `SELECT id, at, agent, attempt, trigger, state, instance_id AS instanceId, started_at AS startedAt,
       waited_ms AS waitedMs,
       (SELECT min(since) FROM waits WHERE waits.instance_id = triggers.instance_id) AS waitsSince
     FROM triggers WHERE state <> 'ended' ORDER BY seq`,
  );
  return select.all() as unknown as OpenRow[];
}

function itemOf(row: OpenRow): WorkItem {
  const { id, at, agent, attempt } = row;
  return { id, at, agent, attempt, trigger: JSON.parse(row.trigger) as Trigger };
}

function openRun(row: OpenRow, now: number): OpenRun {
  const { instanceId, startedAt, waitsSince } = row;
  const waitedMs = row.waitedMs + (waitsSince === null ? 0 : Math.max(0, now - waitsSince));
  return { item: itemOf(row), instanceId, startedAt, waitedMs };
}

function recordLost(db: DatabaseSync, lastRuns: LastRuns, runs: readonly OpenRun[]): LostRun[] {
  const insert = prepareInsert(db);
  const end = db.prepare(
    "UPDATE triggers SET state = 'ended', outcome = 'lost', reason = ?, dead_letter = ? WHERE id = ?",
  );
  return runs.map((run) => {
    const { item, startedAt } = run;
    const retry = retryOf(item);
    const reason = `the scheduler ended while it ran; ${retry ? "tried again" : "not tried again"}`;
    end.run(reason, Number(retry === null), item.id);
    lastRuns.record(item.agent, { startedAt, endedAt: null, outcome: "lost", reason });
    if (retry) insert(queuedRow(retry));
    return { ...run, retry };
  });
}

/** Whether work whose run was lost is tried once more. */
export function mayRetry({ attempt }: WorkItem): boolean {
  return attempt < maxAttempts;
}

/** The work of a lost run once more, null when this was the second try: a new item, as the lost one keeps its entry. */
export function retryOf(item: WorkItem): WorkItem | null {
  if (!mayRetry(item)) return null;
  return { ...item, id: uuidV7(), attempt: item.attempt + 1 };
}
