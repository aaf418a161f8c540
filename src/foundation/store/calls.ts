import type { Outcome } from "../../../streams/outcomes.ts";
import type { OpenCall } from "../contracts/run-state.ts";
import type { DatabaseSync } from "node:sqlite";
import { withJson } from "./rows.ts";
import type { Trigger, WorkItem } from "../../../streams/vocabulary.ts";
import type { WaitingRun } from "./receipts.ts";
import type { GroupCommit } from "./group-commit.ts";
import { openTriggers, prepareInsert, queuedRow, takenRow } from "./trigger-rows.ts";
import { prepareWaits } from "./waits.ts";

/** The state of a call: that of its latest attempt. */
export interface CallState {
  readonly callId: string;
  readonly agent: string;
  readonly state: "queued" | "running" | "ended";
  readonly outcome: Outcome | null;
  readonly exitCode: number | null;
  /** The value that the callee returned, any JSON; null for no value. */
  readonly value: unknown;
  readonly reason: string | null;
}

/** Reads and writes the calls between runs, which are work in `triggers` like any other. */
export function createCalls(db: DatabaseSync, { write }: GroupCommit) {
  const insert = prepareInsert(db);
  const waits = prepareWaits(db);
  const known = db.prepare("SELECT 1 FROM triggers WHERE call_id = ? LIMIT 1");
  const ofRoot = db.prepare(
    "SELECT count(*) AS n FROM triggers WHERE root = ? AND attempt = 1 AND replay_of IS NULL",
  );
  const latest = db.prepare(
    `SELECT call_id AS callId, agent, state, outcome, exit_code AS exitCode, value, reason FROM triggers
     WHERE call_id = ? AND caller = ? ORDER BY seq DESC LIMIT 1`,
  );
  // Found by rows, not by the run's own trigger: a waiting run may have taken the call meant for another.
  const ledTo = db.prepare(
    `WITH RECURSIVE up (agent, instance) AS (
       SELECT NULL, ?
       UNION SELECT source, caller FROM triggers JOIN up ON instance_id = up.instance WHERE caller IS NOT NULL
       UNION SELECT triggers.agent, continues FROM triggers JOIN up ON instance_id = up.instance
         WHERE continues IS NOT NULL)
     SELECT agent, (SELECT instance_id FROM triggers WHERE instance_id = instance) AS instance
     FROM up WHERE agent IS NOT NULL`,
  );
  const config = db.prepare(
    `SELECT json_extract(content, '$.config') AS config FROM triggers JOIN run_contents ON hash = version
     WHERE instance_id = ?`,
  );
  const open = db.prepare(
    `SELECT id, instance_id AS instanceId, agent, trigger FROM ${openTriggers} AND kind = 'agent-call' ORDER BY seq`,
  );

  const add = (item: WorkItem, limit: number, waitingRun: WaitingRun | null) => {
    const { trigger } = item;
    if (trigger.kind !== "agent-call") throw new Error(`work item ${item.id} is not a call`);
    if (known.get(trigger.callId) !== undefined) return "known";
    if (Number(ofRoot.get(trigger.root)?.n) >= limit) return "too_many";
    if (waitingRun?.isWaiting() === true && waits.end(waitingRun)) {
      insert(takenRow(item, waitingRun.instanceId));
      return "taken";
    }
    insert(queuedRow(item));
    return "queued";
  };
  return {
    /**
     * Commits a call once: `known` if one of that id exists, `too_many` if its tree of calls holds `limit` of them.
     * `taken`: a run that waits for the call takes it, so it is never queued.
     */
    add: (item: WorkItem, limit: number, waitingRun: WaitingRun | null) =>
      write(() => add(item, limit, waitingRun)),
    /** The calls of a run among these ids, after all earlier writes are committed. */
    read: (caller: string, callIds: readonly string[]): Promise<readonly CallState[]> =>
      write(() => callIds.flatMap((callId) => stateOf(latest.get(callId, caller)))),
    /** The runs whose calls led to a run, or whose session it continues, at any depth. */
    ledTo: (instanceId: string): readonly EarlierRun[] =>
      ledTo.all(instanceId) as unknown as readonly EarlierRun[],
    /** The canonical config that a run started with; null if it is not stored. */
    config: (instanceId: string): string | null => {
      const row = config.get(instanceId);
      return row === undefined ? null : String(row.config);
    },
    /** The calls of an earlier scheduler that have not ended. */
    open: (): readonly OpenCall[] => (open.all() as unknown as OpenRow[]).flatMap(openCall),
  };
}

function stateOf(row: unknown): CallState[] {
  return row === undefined ? [] : [withJson(row, "value")];
}

/** A run that made a call, or whose session another one continues. */
export interface EarlierRun {
  readonly agent: string;
  /** Null once its history is deleted: the runs that led to it are unknown. */
  readonly instance: string | null;
}

interface OpenRow {
  readonly id: string;
  readonly instanceId: string | null;
  readonly agent: string;
  readonly trigger: string;
}

function openCall({ id, instanceId, agent, trigger }: OpenRow): OpenCall[] {
  const asked = JSON.parse(trigger) as Trigger;
  if (asked.kind !== "agent-call") return [];
  const { callId, callerInstance, cancelOnExit } = asked;
  return [{ callId, itemId: id, agent, callerInstance, cancelOnExit, instanceId }];
}
