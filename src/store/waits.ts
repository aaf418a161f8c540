import type { DatabaseSync } from "node:sqlite";
import type { Condition } from "../../streams/coordination/condition.ts";
import type { Wait } from "../../streams/coordination/waits.ts";
import type { GroupCommit } from "./group-commit.ts";

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
  /** Resolves to the answer that the wait has: another one when it was over before, undefined when it was given up. */
  end(end: WaitEnd): Promise<unknown>;
  /** The run no longer waits for the answer. */
  cancel(end: Omit<WaitEnd, "answer">): Promise<void>;
  all(): readonly Wait[];
  /** The answer to a request that was made before; undefined when there is none. */
  answer(instanceId: string, key: string): unknown;
  /** `instead` names the request whose answer is not needed any more. */
  remember(instanceId: string, key: string, answer: unknown, instead?: string): Promise<void>;
  /** The run is over, and asks nothing more. Waits for the store. */
  forget(instanceId: string): Promise<void>;
}

/** Whether a wait is in store, so that it is not over. */
export function prepareIsOpen(
  db: DatabaseSync,
): (wait: Pick<WaitEnd, "instanceId" | "key">) => boolean {
  const select = db.prepare("SELECT 1 FROM waits WHERE instance_id = ? AND key = ?");
  return ({ instanceId, key }) => select.get(instanceId, key) !== undefined;
}

/**
 * Prepares the end of a wait, to be written inside the caller's transaction. False when it was over before: then its
 * answer is another one.
 */
export function prepareWaitEnd(db: DatabaseSync): (end: WaitEnd) => boolean {
  const isOpen = prepareIsOpen(db);
  const remove = prepareRemoval(db);
  const remember = prepareAnswer(db);
  return (end) => {
    const wasOpen = isOpen(end);
    remove(end);
    if (wasOpen) remember(end.instanceId, end.key, end.answer);
    return wasOpen;
  };
}

/** Reads what a request was told; undefined when it has no answer yet. */
export function prepareStoredAnswer(
  db: DatabaseSync,
): (instanceId: string, key: string) => unknown {
  const select = db.prepare("SELECT answer FROM answers WHERE instance_id = ? AND key = ?");
  return (instanceId, key) => {
    const row = select.get(instanceId, key);
    return row === undefined ? undefined : (JSON.parse(String(row.answer)) as unknown);
  };
}

/** Reads and writes `waits` and `answers`. */
export function createWaits(db: DatabaseSync, { write, record }: GroupCommit): Waits {
  const insert = db.prepare(
    "INSERT INTO waits VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const select = db.prepare(
    `SELECT instance_id AS instanceId, key, agent, condition, since, until, asked_ms AS askedMs FROM waits
     ORDER BY since, instance_id`,
  );
  const answer = prepareStoredAnswer(db);
  const forgetWaits = db.prepare("DELETE FROM waits WHERE instance_id = ?");
  const forgetAnswers = db.prepare("DELETE FROM answers WHERE instance_id = ?");
  const forgetAnswer = db.prepare("DELETE FROM answers WHERE instance_id = ? AND key = ?");
  const endWait = prepareWaitEnd(db);
  const removed = prepareRemoval(db);
  const remember = prepareAnswer(db);
  return {
    add: ({ instanceId, key, agent, condition, since, until, askedMs = null }) =>
      write(() => {
        insert.run(instanceId, key, agent, JSON.stringify(condition), since, until, askedMs);
      }),
    end: (end) => write(() => (endWait(end) ? end.answer : answer(end.instanceId, end.key))),
    cancel: (cancelled) => write(() => removed(cancelled)),
    all: () => (select.all() as unknown as WaitRow[]).map(waitOf),
    answer,
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

interface WaitRow extends Omit<Wait, "condition" | "askedMs"> {
  readonly condition: string;
  readonly askedMs: number | null;
}

function waitOf({ condition, askedMs, ...row }: WaitRow): Wait {
  const wait = { ...row, condition: JSON.parse(condition) as Condition };
  return askedMs === null ? wait : { ...wait, askedMs };
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
