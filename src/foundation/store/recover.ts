import { retriedOutcomes, type Outcome } from "../../../streams/outcomes.ts";
import type { DatabaseSync } from "node:sqlite";
import { isRetried, triggerKinds } from "../../../streams/vocabulary.ts";
import type { HowEnded, Trigger, WorkItem } from "../../../streams/vocabulary.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { LastRuns } from "./work.ts";
import type { FeatureTables } from "./feature-tables.ts";
import { createSuperseded } from "./superseded.ts";
import { prepareInsert, queuedRow } from "./trigger-rows.ts";
import { v7 as uuidV7 } from "uuid";

/** A run that was live when the scheduler died. `startedAt` is epoch ms. */
export interface OpenRun {
  readonly item: WorkItem;
  readonly instanceId: string;
  readonly startedAt: number;
  /** How long its clock has been paused so far, in ms: it waited, and may still wait. */
  readonly waitedMs: number;
  /** Whether its scheduler was stopping, so that its end may be part of the stop. */
  readonly leftByStop: boolean;
  /** The newer work for which its scheduler was ending it; absent without one. */
  readonly supersededBy?: string;
}

/** A run whose end no scheduler saw; `retry` is its repeated work, null if this was the second attempt. */
export interface LostRun extends OpenRun {
  readonly outcome: Outcome;
  readonly retry: WorkItem | null;
}

/** The work of an earlier scheduler. */
export interface Recovered {
  /**
   * Waiting work, in order: retries of lost runs, and work whose run never began, at the places of their first attempts.
   * Empty while work is held in the store.
   */
  readonly requeue: readonly WorkItem[];
  /** Runs whose process never received a request: their work waits again, and the attempt does not count. */
  readonly neverBegun: readonly OpenRun[];
  readonly lost: readonly LostRun[];
  /** Runs that continue under the new scheduler. */
  readonly adopted: readonly OpenRun[];
}

/** The columns of a work item. */
export interface WorkRow extends Omit<
  WorkItem,
  "replayOf" | "gathered" | "trigger" | "key" | "session" | "isRetry"
> {
  readonly trigger: string;
  readonly replayOf: string | null;
  readonly gathered: string | null;
  readonly key: string | null;
  readonly session: string | null;
  readonly isRetry: number;
}

interface OpenRow extends WorkRow {
  readonly state: "queued" | "running";
  readonly instanceId: string;
  readonly startedAt: number;
  readonly begun: number;
  readonly waitedMs: number;
  /** Start of its current wait, epoch ms; null if it does not wait. */
  readonly waitsSince: number | null;
  readonly supersededBy: string | null;
}

/** Called with the runs that ended, inside the transaction that records them. */
export type OnLost = (lost: readonly LostRun[]) => void;

interface RecoverOptions {
  readonly alive: ReadonlySet<string>;
  readonly onLost: OnLost | undefined;
  /** Whether waiting work stays in the store, for `createWaitingWork`. */
  readonly isWorkHeld: boolean;
  readonly features: readonly FeatureTables[];
}

/** Epoch ms. */
export interface Times {
  readonly now: number;
  /** When a scheduler last began to stop; null before the first time. */
  readonly stoppedAt: number | null;
}

/**
 * Takes over from a scheduler that ended, in one transaction: waiting work waits again, also work claimed by a run
 * that never began. Begun runs that are not among `alive` (instance ids) are recorded as `lost`, or as `interrupted` if
 * their scheduler was being stopped, and their work waits once more as a new item of the next attempt. Their locks are
 * free.
 */
export function recover(
  db: DatabaseSync,
  { write }: GroupCommit,
  lastRuns: LastRuns,
  { alive, onLost, isWorkHeld, features }: RecoverOptions,
  times: () => Times,
): Promise<Recovered> {
  return write(() => {
    for (const feature of features) feature.beforeRecovery?.(db, alive);
    const open = openRows(db, features, isWorkHeld);
    const at = times();
    const runs = runsAmong(open, at);
    const begun = new Set(
      open.filter((row) => row.begun === 1).map(({ instanceId }) => instanceId),
    );
    const gone = runs.filter((run) => !alive.has(run.instanceId));
    const neverBegun = gone.filter((run) => !begun.has(run.instanceId));
    const lost = recordLost(
      db,
      lastRuns,
      gone.filter((run) => begun.has(run.instanceId)),
    );
    putBack(db, neverBegun);
    onLost?.(lost);
    forgetOthers(db, alive);
    for (const feature of features) feature.recover?.(db);
    const dropped = dropRepeatedCalls(db, at.now);
    const again = new Map<string, WorkItem | null>([
      ...lost.map(({ item, retry }) => [item.id, retry] as const),
      ...neverBegun.map(({ item }) => [item.id, waiting(item)] as const),
    ]);
    const rows = isWorkHeld ? [] : open;
    const requeue = rows.flatMap((row) => {
      const item = row.state === "queued" ? waiting(itemOf(row)) : again.get(row.id);
      return item && !dropped.has(item.id) ? [item] : [];
    });
    return { requeue, neverBegun, lost, adopted: runs.filter((run) => alive.has(run.instanceId)) };
  });
}

/** The runs that were live when the scheduler died. */
export function openRuns(
  db: DatabaseSync,
  features: readonly FeatureTables[],
  times: Times,
): readonly OpenRun[] {
  return runsAmong(openRows(db, features, true), times);
}

function runsAmong(open: readonly OpenRow[], times: Times): OpenRun[] {
  return open.filter((row) => row.state === "running").map((row) => openRun(row, times));
}

function forgetOthers(db: DatabaseSync, alive: ReadonlySet<string>): void {
  for (const table of ["locks", "waits", "answers"]) {
    db.prepare(
      `DELETE FROM ${table} WHERE instance_id NOT IN (SELECT value FROM json_each(?))`,
    ).run(JSON.stringify([...alive]));
  }
}

function openRows(
  db: DatabaseSync,
  features: readonly FeatureTables[],
  runsOnly: boolean,
): OpenRow[] {
  const ownWaits = "SELECT since FROM waits WHERE waits.instance_id = triggers.instance_id";
  const waits = [ownWaits, ...features.flatMap((feature) => feature.waits ?? [])];
  const select = db.prepare(
    `SELECT ${workColumns}, superseded_by AS supersededBy, state, instance_id AS instanceId, started_at AS startedAt,
       begun, waited_ms AS waitedMs,
       (SELECT min(since) FROM (${waits.join(" UNION ALL ")})) AS waitsSince
     FROM triggers WHERE state <> 'ended' AND state <> ? ORDER BY seq`,
  );
  return select.all(runsOnly ? "queued" : "ended") as unknown as OpenRow[];
}

/** The columns of a `WorkRow`. */
export const workColumns =
  "id, at, agent, attempt, trigger, replay_of AS replayOf, gathered, key, session, is_retry AS isRetry";

export function itemOf(row: WorkRow): WorkItem {
  const { id, at, agent, attempt, replayOf, gathered, key, session, isRetry } = row;
  return {
    id,
    at,
    agent,
    attempt,
    trigger: JSON.parse(row.trigger) as Trigger,
    ...(replayOf !== null && { replayOf }),
    ...(gathered !== null && { gathered: JSON.parse(gathered) as readonly string[] }),
    ...(key !== null && { key }),
    ...(session !== null && { session }),
    ...(isRetry === 1 && { isRetry: true }),
  };
}

function openRun(row: OpenRow, { now, stoppedAt }: Times): OpenRun {
  const { instanceId, startedAt, waitsSince, supersededBy } = row;
  const waitedMs = row.waitedMs + (waitsSince === null ? 0 : Math.max(0, now - waitsSince));
  const superseded = supersededBy === null ? {} : { supersededBy };
  const leftByStop = stoppedAt !== null && startedAt <= stoppedAt;
  return { item: itemOf(row), instanceId, startedAt, waitedMs, leftByStop, ...superseded };
}

function putBack(db: DatabaseSync, runs: readonly OpenRun[]): void {
  const queue = db.prepare(
    `UPDATE triggers SET state = 'queued', instance_id = NULL, started_at = NULL, version = NULL, git_commit = NULL,
       git_dirty = NULL WHERE id = ?`,
  );
  for (const { item } of runs) queue.run(item.id);
}

/** A tick on time does not wait for a runner; one of an earlier scheduler does, as it was accepted. */
export function waiting(item: WorkItem): WorkItem {
  return item.trigger.kind === "cron" ? { ...item, waits: true } : item;
}

function recordLost(db: DatabaseSync, lastRuns: LastRuns, runs: readonly OpenRun[]): LostRun[] {
  const insert = prepareInsert(db);
  const end = db.prepare(
    "UPDATE triggers SET state = 'ended', outcome = ?, reason = ?, dead_letter = ? WHERE id = ?",
  );
  return runs.map((run) => {
    const { item, startedAt, leftByStop } = run;
    const outcome = leftByStop ? "interrupted" : "lost";
    const retry = retryOf(item, { outcome });
    const how = outcome === "lost" ? "ended" : "was stopped";
    const reason = `the scheduler ${how} while it ran; ${retry ? "tried again" : "not tried again"}`;
    end.run(outcome, reason, Number(retry === null), item.id);
    lastRuns.record(item.agent, { startedAt, endedAt: null, outcome, reason });
    if (retry) insert(queuedRow(retry));
    return { ...run, outcome, retry };
  });
}

/** The values of `class` of runs that are tried again. */
const retriedClasses = triggerKinds.flatMap((kind) =>
  retriedOutcomes.map((outcome) => `'${kind}/${outcome}/0'`),
);

/** Ends waiting calls whose caller is retried: it makes its calls again, and each is to run once. */
function dropRepeatedCalls(db: DatabaseSync, now: number): ReadonlySet<unknown> {
  const drop = db.prepare(
    `UPDATE triggers SET state = 'ended', outcome = 'rejected', ended_at = ?,
       reason = 'the run that called it is tried again, and makes its calls anew'
     WHERE state <> 'ended' AND state = 'queued' AND kind = 'agent-call' AND caller IN
       (SELECT instance_id FROM triggers WHERE class IN (${retriedClasses.join(", ")}))
     RETURNING id`,
  );
  const ids = drop.all(now).map(({ id }) => String(id));
  const superseded = createSuperseded(db);
  for (const id of ids) superseded.ended(id);
  return new Set(ids);
}

/** The retry of a run's work, null without one: a new item, as the run's keeps its entry. */
export function retryOf(item: WorkItem, end: HowEnded): WorkItem | null {
  if (!isRetried(item, end)) return null;
  const isRetry = item.key === undefined ? {} : ({ isRetry: true } as const);
  const again = { ...item, id: uuidV7(), ...isRetry };
  return end.neverBegan ? waiting(again) : { ...again, attempt: item.attempt + 1 };
}
