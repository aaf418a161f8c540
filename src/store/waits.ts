import type { DatabaseSync } from "node:sqlite";
import type { Condition } from "../../streams/coordination/condition.ts";
import type { Wait } from "../../streams/coordination/waits.ts";
import type { Trigger, WorkItem } from "../../streams/vocabulary.ts";
import type { GroupCommit } from "./group-commit.ts";
import { takenBy } from "./trigger-rows.ts";

/** How a wait was over. */
export interface WaitEnd {
  readonly instanceId: string;
  readonly key: string;
  /** What its request is told, and told again when it is repeated: any JSON. */
  readonly answer: unknown;
  /** For how long the clock of its run has stood so far, in ms. */
  readonly waitedMs: number;
}

/**
 * What runs wait for, and what they were told that they could not find out again. Every promise resolves once its
 * change is committed.
 */
export interface Waits {
  add(wait: Wait): Promise<void>;
  end(end: WaitEnd): Promise<void>;
  /**
   * Ends a wait with the oldest work that waits in its agent's queue already and that `answerOf` has an answer for; null
   * with none. It is called within the transaction.
   */
  takeQueued(
    wait: Wait & { readonly waitedMs: number },
    answerOf: (item: WorkItem) => unknown,
  ): Promise<{ readonly item: WorkItem; readonly answer: unknown } | null>;
  /** Nobody wants to know any more. */
  cancel(end: Omit<WaitEnd, "answer">): Promise<void>;
  all(): readonly Wait[];
  /** The answer to a request that was made before; undefined when there is none. */
  answer(instanceId: string, key: string): unknown;
  /** `instead` names the request whose answer is not needed any more. */
  remember(instanceId: string, key: string, answer: unknown, instead?: string): Promise<void>;
  /** The run is over, and asks nothing more. Waits for the store. */
  forget(instanceId: string): Promise<void>;
}

/** Prepares the end of a wait, to be written inside the caller's transaction. */
export function prepareWaitEnd(db: DatabaseSync): (end: WaitEnd) => void {
  const removed = prepareRemoval(db);
  const remember = prepareAnswer(db);
  return (end) => {
    removed(end);
    remember(end.instanceId, end.key, end.answer);
  };
}

/** Reads and writes `waits` and `answers`. */
export function createWaits(db: DatabaseSync, { write, record }: GroupCommit): Waits {
  const insert = db.prepare("INSERT INTO waits VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
  const select = db.prepare(
    `SELECT instance_id AS instanceId, key, agent, condition, since, until FROM waits
     ORDER BY since, instance_id`,
  );
  const answer = db.prepare("SELECT answer FROM answers WHERE instance_id = ? AND key = ?");
  const forgetWaits = db.prepare("DELETE FROM waits WHERE instance_id = ?");
  const forgetAnswers = db.prepare("DELETE FROM answers WHERE instance_id = ?");
  const forgetAnswer = db.prepare("DELETE FROM answers WHERE instance_id = ? AND key = ?");
  const queued = db.prepare(
    `SELECT id, at, agent, attempt, trigger FROM triggers
     WHERE state <> 'ended' AND state = 'queued' AND agent = ? AND kind IN ('webhook', 'agent-call') ORDER BY seq`,
  );
  const take = db.prepare(
    `UPDATE triggers SET state = 'ended', outcome = 'succeeded', instance_id = ?, reason = ?
     WHERE id = ? AND state = 'queued'`,
  );
  const end = prepareWaitEnd(db);
  const takeQueued = (
    wait: Wait & { readonly waitedMs: number },
    answerOf: (item: WorkItem) => unknown,
  ) => {
    const { instanceId } = wait;
    for (const row of queued.all(wait.agent) as unknown as QueuedRow[]) {
      const item = { ...row, trigger: JSON.parse(row.trigger) as Trigger };
      const answer = answerOf(item);
      if (answer === null) continue;
      take.run(instanceId, takenBy(instanceId), item.id);
      end({ ...wait, answer });
      return { item, answer };
    }
    return null;
  };
  const removed = prepareRemoval(db);
  const remember = prepareAnswer(db);
  return {
    add: ({ instanceId, key, agent, condition, since, until }) =>
      write(() => {
        insert.run(instanceId, key, agent, JSON.stringify(condition), since, until);
      }),
    end: (ended) => write(() => end(ended)),
    takeQueued: (wait, answerOf) => write(() => takeQueued(wait, answerOf)),
    cancel: (cancelled) => write(() => removed(cancelled)),
    all: () =>
      (select.all() as unknown as (Omit<Wait, "condition"> & { condition: string })[]).map(
        (row) => ({ ...row, condition: JSON.parse(row.condition) as Condition }),
      ),
    answer: (instanceId, key) => {
      const row = answer.get(instanceId, key);
      return row === undefined ? undefined : (JSON.parse(String(row.answer)) as unknown);
    },
    remember: (instanceId, key, value, instead) =>
      write(() => {
        remember(instanceId, key, value);
        if (instead !== undefined) forgetAnswer.run(instanceId, instead);
      }),
    forget: (instanceId) =>
      record(() => {
        forgetWaits.run(instanceId);
        forgetAnswers.run(instanceId);
      }),
  };
}

interface QueuedRow extends Omit<WorkItem, "trigger"> {
  readonly trigger: string;
}

function prepareRemoval(db: DatabaseSync): (end: Omit<WaitEnd, "answer">) => void {
  const remove = db.prepare("DELETE FROM waits WHERE instance_id = ? AND key = ?");
  // The condition on the state is what its index asks for.
  const stood = db.prepare(
    "UPDATE triggers SET waited_ms = ? WHERE instance_id = ? AND state <> 'ended'",
  );
  return ({ instanceId, key, waitedMs }) => {
    remove.run(instanceId, key);
    stood.run(waitedMs, instanceId);
  };
}

function prepareAnswer(
  db: DatabaseSync,
): (instanceId: string, key: string, value: unknown) => void {
  const insert = db.prepare("INSERT INTO answers VALUES (?, ?, ?) ON CONFLICT DO NOTHING");
  return (instanceId, key, value) => {
    insert.run(instanceId, key, JSON.stringify(value));
  };
}
