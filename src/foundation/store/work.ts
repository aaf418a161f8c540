import type { DatabaseSync } from "node:sqlite";
import type { EarlierRun } from "../../../streams/status/agent-record.ts";
import { type RefusedOutcome } from "../../../streams/outcomes.ts";
import { isoTime } from "../../../streams/iso-times.ts";
import {
  type RunEnd,
  type RunEvent,
  type RunRequest,
  type WorkItem,
  StartedBefore,
  isDeadLetter,
  isRetried,
  slotOf,
} from "../../../streams/vocabulary.ts";
import { prepareContents, type GitState, type RunVersion } from "./runs.ts";
import type { GroupCommit } from "./group-commit.ts";
import { prepareTakeSlot } from "./slots.ts";
import { deadLetterRow, prepareInsert, queuedRow, type DeadLetterEntry } from "./trigger-rows.ts";

/** Writes committed with the record that they belong to, or not at all. */
export type Also = () => void;

/** A run that has ended. `startedAt` is epoch ms. */
export interface EndedRun {
  readonly instanceId: string;
  readonly startedAt: number;
  /** When the run ended, epoch ms; now when absent. */
  readonly at?: number;
  readonly end: RunEnd;
}

const selectState = "SELECT state FROM triggers WHERE id = ?";

/** Committed before a run's process receives a request, so that a run without it never received one. */
export const beginRun = "UPDATE triggers SET begun = 1 WHERE instance_id = ?";

/**
 * The durable work of a project, in `triggers`: every promise resolves once its change is committed. Requests from
 * outside reject with Problem `store_unavailable`; decisions already made wait for the store. `now` is epoch ms.
 */
export function createWork(
  db: DatabaseSync,
  { write, record }: GroupCommit,
  lastRuns: LastRuns,
  now: () => number,
) {
  const insert = prepareInsert(db);
  const stateOf = db.prepare(selectState);
  const end = prepareEnd(db, lastRuns, now);
  const undoBegin = db.prepare(
    "UPDATE triggers SET begun = 0 WHERE instance_id = ? AND state = 'running'",
  );
  const endQueued = db.prepare(
    `UPDATE triggers SET state = 'ended', outcome = ?, reason = ?, dead_letter = ?, ended_at = ?
     WHERE id = ? AND state = 'queued'`,
  );

  const slots = prepareTakeSlot(db);
  const keepTick = (item: WorkItem): void => {
    if (stateOf.get(item.id) !== undefined) return;
    if (!slots.take(item)) throw startedBefore(item);
    insert(queuedRow(item));
  };
  const { claim, recordGit } = prepareClaim(db, now, keepTick);

  const enqueue = (items: readonly WorkItem[]): void => {
    for (const item of items) {
      insert(queuedRow(item));
      // A retry or replay of a tick may start although the slot was started before.
      slots.take(item);
    }
  };

  const refuse = (
    item: WorkItem,
    outcome: RefusedOutcome,
    reason: string,
    deadLetter: boolean,
  ): void => {
    const { changes } = endQueued.run(outcome, reason, Number(deadLetter), now(), item.id);
    if (changes === 1) return slots.free(item);
    const state = stateOf.get(item.id)?.state;
    if (state !== undefined) throw notQueued(item, state);
    insert({ ...queuedRow(item), state: "ended", outcome, reason, deadLetter });
  };

  return {
    /** Adds waiting items, all or none. */
    enqueue: (items: readonly WorkItem[]) => write(() => enqueue(items)),
    /** Adds a tick, unless it was added before. Rejects with StartedBefore if its slot was started. Waits for the store. */
    keepTick: (item: WorkItem, also?: Also) =>
      record(() => {
        keepTick(item);
        also?.();
      }),
    /** Adds ticks that no scheduler saw, each with its reason. Waits for the store. */
    miss: (missed: Missed["items"], also?: Also) =>
      record(() => {
        for (const { item, reason } of missed) {
          insert({ ...queuedRow(item), state: "ended", outcome: "missed", reason });
        }
        also?.();
      }),
    /** Like enqueue, for work of a run that has ended: it waits for the store. */
    requeue: (items: readonly WorkItem[]) => record(() => enqueue(items)),
    /**
     * Records which instance runs an item, and its version; a run starts only after this. Rejects when the item doesn't
     * wait: it was dropped, or another instance has it. A tick that never waited is added here. Waits for the store.
     */
    claim: (
      request: RunRequest,
      version: RunVersion | null = null,
      git: GitState | null = null,
      also?: Also,
    ) =>
      record(() => {
        claim(request, version, git);
        also?.();
      }),
    /** For a claimed run whose commit was not known in time. Waits for the store. */
    recordGit: (request: RunRequest, git: GitState) => record(() => recordGit(request, git)),
    /** Records that a run ended before its agent received a request, and is started again. Waits for the store. */
    undoBegin: (instanceId: string, also?: Also) =>
      record(() => {
        undoBegin.run(instanceId);
        also?.();
      }),
    /** Records the end of a claimed run. One whose runner rejected it counts as never started. Waits for the store. */
    end: (item: WorkItem, ended: EndedRun, also?: Also) =>
      record(() => {
        end(item, ended);
        also?.();
      }),
    /**
     * Ends an item that will not run, whether it waited or was never added. Rejects if it runs or has ended. Waits for
     * the store.
     */
    refuse: (
      item: WorkItem,
      outcome: RefusedOutcome,
      reason: string,
      deadLetter: boolean,
      also?: Also,
    ): Promise<void> =>
      record(() => {
        refuse(item, outcome, reason, deadLetter);
        also?.();
      }),
    /** Commits the writes of an event that has no record of its own. Waits for the store. */
    record: (also: Also) => record(also),
    /** Records why a trigger that reached no agent ran nothing. */
    deadLetter: (entry: DeadLetterEntry) => write(() => insert(deadLetterRow(entry))),
  };
}

type Missed = Extract<RunEvent, { type: "missed" }>;

function startedBefore(item: WorkItem): StartedBefore {
  const { at } = slotOf(item) ?? item;
  return new StartedBefore(`its run of ${isoTime(at)} was started before`);
}

/** Writes that begin a run, inside the caller's transaction. */
function prepareClaim(db: DatabaseSync, now: () => number, keepTick: (item: WorkItem) => void) {
  const stateOf = db.prepare(selectState);
  const run = db.prepare(
    `UPDATE triggers SET state = 'running', instance_id = ?, started_at = ?
     WHERE id = ? AND state = 'queued'`,
  );
  const contents = prepareContents(db);
  const stamp = db.prepare("UPDATE triggers SET version = ? WHERE id = ?");
  const gitOf = db.prepare(
    "UPDATE triggers SET git_commit = ?, git_dirty = ? WHERE id = ? AND instance_id = ?",
  );

  const begin = ({ item, instanceId }: RunRequest): void => {
    if (item.trigger.kind === "cron") keepTick(item);
    if (run.run(instanceId, now(), item.id).changes === 1) return;
    throw notQueued(item, stateOf.get(item.id)?.state);
  };
  const recordGit = ({ item, instanceId }: RunRequest, { commit, dirty }: GitState): void => {
    gitOf.run(commit, Number(dirty), item.id, instanceId);
  };
  const claim = (request: RunRequest, version: RunVersion | null, git: GitState | null): void => {
    begin(request);
    if (version !== null) {
      contents.add(version);
      stamp.run(version.hash, request.item.id);
    }
    if (git !== null) recordGit(request, git);
  };
  return { claim, recordGit };
}

/** Writes the end of a run, inside the caller's transaction. */
function prepareEnd(db: DatabaseSync, lastRuns: LastRuns, now: () => number) {
  const finish = db.prepare(
    `UPDATE triggers SET state = 'ended', outcome = ?, dead_letter = ?, reason = ?, started_at = ?, ended_at = ?,
       exit_code = ?, model = ?, tokens = ?, cost_usd = ?, value = ?
     WHERE id = ? AND state = 'running' AND instance_id = ?`,
  );
  const slots = prepareTakeSlot(db);
  return (item: WorkItem, { instanceId, startedAt, at, end }: EndedRun): void => {
    const began = end.outcome !== "rejected";
    const endedAt = at ?? now();
    const { changes } = finish.run(
      end.outcome,
      Number(isDeadLetter(item, end.outcome) && !isRetried(item, end)),
      end.reason,
      began ? startedAt : null,
      endedAt,
      end.exitCode,
      end.usage?.model ?? null,
      end.usage?.tokens ?? null,
      end.usage?.costUsd ?? null,
      jsonOf(end.value),
      item.id,
      instanceId,
    );
    if (changes !== 1) throw new Error(`work item ${item.id} is not run by ${instanceId}`);
    const { outcome, reason } = end;
    if (!began) slots.free(item);
    lastRuns.record(item.agent, { startedAt, endedAt, outcome, reason });
  };
}

/** JSON text; null for undefined. */
function jsonOf(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

function notQueued(item: WorkItem, state: unknown): Error {
  const found = typeof state === "string" ? `is ${state}` : "was never added";
  return new Error(`work item ${item.id} of agent ${item.agent} does not wait: it ${found}`);
}

/** Reads and writes `last_runs`: separate from history, so that neither its size nor its pruning matters. */
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
    /** Null for an agent without one. */
    of: (agent: string): EarlierRun | null => {
      const row = select.get(agent) as EarlierRun | undefined;
      return row === undefined ? null : { ...row };
    },
    /** Inside the caller's transaction; a run earlier than the stored one changes nothing. */
    record: (agent: string, run: EarlierRun): void => {
      upsert.run(agent, run.startedAt, run.endedAt, run.outcome, run.reason);
    },
  };
}

export type LastRuns = ReturnType<typeof createLastRuns>;
