import type { DatabaseSync } from "node:sqlite";
import { withJson } from "./rows.ts";
import type { Wait } from "../contracts/run-state.ts";
import type { GroupCommit } from "./group-commit.ts";

/** The end of a wait. */
export interface WaitEnd {
  readonly instanceId: string;
  readonly key: string;
  /** The answer to its request and to a repetition of it: any JSON. */
  readonly answer: unknown;
  /** How long its run's clock has been paused so far, in ms. */
  readonly waitedMs: number;
}

/** A wait that no event meets, and that has no timeout. */
type MoneyWait = Pick<Wait, "instanceId" | "key" | "agent" | "since">;

/** The condition of a wait for money. */
const money = '{"kind":"money"}';
const noEnd = Number.MAX_SAFE_INTEGER;

/** Reads and writes waits and their answers inside the caller's transaction. */
export function prepareWaits(db: DatabaseSync) {
  const find = db.prepare("SELECT 1 FROM waits WHERE instance_id = ? AND key = ?");
  const remove = db.prepare("DELETE FROM waits WHERE instance_id = ? AND key = ?");
  // The index requires the condition on the state.
  const stood = db.prepare(
    "UPDATE triggers SET waited_ms = ? WHERE instance_id = ? AND state <> 'ended'",
  );
  const findAnswer = db.prepare("SELECT answer FROM answers WHERE instance_id = ? AND key = ?");
  const insertAnswer = db.prepare("INSERT INTO answers VALUES (?, ?, ?) ON CONFLICT DO NOTHING");

  const cancel = ({ instanceId, key, waitedMs }: Omit<WaitEnd, "answer">): boolean => {
    const { changes } = remove.run(instanceId, key);
    stood.run(waitedMs, instanceId);
    return changes === 1;
  };
  const remember = (instanceId: string, key: string, answer: unknown): void => {
    insertAnswer.run(instanceId, key, JSON.stringify(answer));
  };
  return {
    /** Whether a wait is stored, so that it has not ended. */
    isOpen: ({ instanceId, key }: WaitEnd): boolean => find.get(instanceId, key) !== undefined,
    /** False if the wait had ended before. */
    cancel,
    /** Like cancel, with an answer for a wait that had not ended; an ended one has another answer. */
    end: (end: WaitEnd): boolean => {
      const wasOpen = cancel(end);
      if (wasOpen) remember(end.instanceId, end.key, end.answer);
      return wasOpen;
    },
    remember,
    /** The stored answer to a request; undefined if it has none yet. */
    answer: (instanceId: string, key: string): unknown => {
      const row = findAnswer.get(instanceId, key);
      return row && JSON.parse(String(row.answer));
    },
  };
}

/**
 * Reads and writes waits of runs, and answers that can't be computed again. Every promise resolves once its change is
 * committed.
 */
export function createWaits(db: DatabaseSync, { write, record }: GroupCommit) {
  const insert = db.prepare(
    "INSERT INTO waits VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const select = db.prepare(
    `SELECT instance_id AS instanceId, key, agent, condition, since, until, asked_ms AS askedMs FROM waits
     WHERE condition <> '${money}' ORDER BY since, instance_id`,
  );
  const selectForMoney = db.prepare(
    `SELECT instance_id AS instanceId, key, agent, since FROM waits
     WHERE condition = '${money}' ORDER BY since, instance_id`,
  );
  const forgetWaits = db.prepare("DELETE FROM waits WHERE instance_id = ?");
  const forgetAnswers = db.prepare("DELETE FROM answers WHERE instance_id = ?");
  const forgetAnswer = db.prepare("DELETE FROM answers WHERE instance_id = ? AND key = ?");
  const waits = prepareWaits(db);
  return {
    add: (wait: Wait): Promise<void> =>
      write(() => {
        const { instanceId, key, agent, condition, since, until, askedMs } = wait;
        const json = JSON.stringify(condition);
        insert.run(instanceId, key, agent, json, since, until, askedMs ?? null);
      }),
    /** Resolves to the answer that the wait has: another one if it had ended before, undefined if it was cancelled. */
    end: (end: WaitEnd): Promise<unknown> =>
      write(() => (waits.end(end) ? end.answer : waits.answer(end.instanceId, end.key))),
    /** The run no longer waits for the answer. */
    cancel: (end: Omit<WaitEnd, "answer">) => write(() => waits.cancel(end)),
    addForMoney: ({ instanceId, key, agent, since }: MoneyWait): Promise<void> =>
      write(() => void insert.run(instanceId, key, agent, money, since, noEnd, null)),
    allForMoney: (): readonly MoneyWait[] => selectForMoney.all() as unknown as MoneyWait[],
    /** All waits except those for money. */
    all: (): readonly Wait[] => select.all().map(waitOf),
    /** The answer to a request that was made before; undefined for a new one. */
    answer: waits.answer,
    /** `instead` names the request whose answer is no longer needed. */
    remember: (instanceId: string, key: string, answer: unknown, instead?: string): Promise<void> =>
      write(() => {
        waits.remember(instanceId, key, answer);
        if (instead !== undefined) forgetAnswer.run(instanceId, instead);
      }),
    /** Deletes the waits and answers of a run that ended. Waits for the store. */
    forget: (instanceId: string): Promise<void> =>
      record(() => {
        forgetWaits.run(instanceId);
        forgetAnswers.run(instanceId);
      }),
  };
}

function waitOf(row: unknown): Wait {
  type Stored = Omit<Wait, "askedMs"> & { readonly askedMs: number | null };
  const { askedMs, ...wait } = withJson<Stored>(row, "condition");
  return askedMs === null ? wait : { ...wait, askedMs };
}
