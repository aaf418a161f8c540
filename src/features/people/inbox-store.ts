import type { DatabaseSync } from "node:sqlite";
import type { WorkItem } from "../../../streams/vocabulary.ts";
import { itemOf, workColumns, type WorkRow } from "../../foundation/store/recover.ts";
import { withJson } from "../../foundation/store/rows.ts";
import { inboxLimits } from "../../foundation/contracts/questions.ts";
import type { InboxKind, InboxMessage, Person } from "../../foundation/contracts/questions.ts";
import type { Redacted } from "../../foundation/credentials/redactor.ts";
import { Problem } from "../../foundation/errors.ts";
import type { GroupCommit } from "../../foundation/store/group-commit.ts";

const columns = `seq, at, instance_id AS instanceId, kind, text, person AS by, received_at AS receivedAt,
  (SELECT instance_id FROM triggers WHERE id = trigger_id AND kind = 'manual') AS continuedBy`;

/** Reads and writes `inbox`. Every promise resolves once its change is committed. */
export function createInboxStore(db: DatabaseSync, { write, record }: GroupCommit) {
  const insert = db.prepare(
    "INSERT INTO inbox (at, instance_id, kind, text, person, trigger_id) VALUES (?, ?, ?, ?, ?, ?) RETURNING seq",
  );
  const unread = db.prepare(
    "SELECT count(*) AS n FROM inbox WHERE instance_id = ? AND received_at IS NULL AND kind <> 'continue'",
  );
  const after = db.prepare(
    `SELECT ${columns} FROM inbox WHERE instance_id = ? AND seq > ? AND kind <> 'continue' ORDER BY seq`,
  );
  const ofRun = db.prepare(`SELECT ${columns} FROM inbox WHERE instance_id = ? ORDER BY seq`);
  const receive = db.prepare(
    "UPDATE inbox SET received_at = ? WHERE instance_id = ? AND seq <= ? AND received_at IS NULL",
  );
  // Until the run has received a delivery, that waits in its queue: if the run ends before, it starts its own.
  const take = db.prepare(
    `UPDATE triggers SET state = 'ended', outcome = 'succeeded', instance_id = :id, reason = :reason
     WHERE state = 'queued' AND id IN (SELECT trigger_id FROM inbox
       WHERE instance_id = :id AND seq <= :seq AND received_at IS NULL AND kind = 'delivery')
     RETURNING id AS itemId, agent`,
  );
  const putBack = db.prepare(`${takenAgain} = ?) RETURNING ${workColumns}`);
  const isSent = db.prepare("SELECT 1 FROM inbox WHERE instance_id = ? AND trigger_id = ?");
  const waiting = db.prepare(
    `SELECT ${workColumns} FROM triggers
     WHERE agent = ? AND session = ? AND state = 'queued' AND kind = 'webhook' ORDER BY seq`,
  );
  const received = (id: string, seq: number, at: number): readonly Taken[] => {
    const taken = take.all({ id, seq, reason: `sent into ${id}, the live run of its session key` });
    receive.run(at, id, seq);
    return taken as unknown as readonly Taken[];
  };
  const end = db.prepare(
    "INSERT INTO answers VALUES (?, 'session-end', '') ON CONFLICT DO NOTHING",
  );
  const ended = db.prepare("SELECT 1 FROM answers WHERE instance_id = ? AND key = 'session-end'");
  return {
    /**
     * Null if the run's session has ended, or the delivery was sent to it before. Rejects with Problem `refused` while too many messages are not received
     * yet.
     */
    add: (
      message: NewMessage & { readonly text: Redacted<string>; readonly at: number },
    ): Promise<InboxMessage | null> =>
      write(() => {
        const { at, instanceId, kind, text, by, triggerId = null } = message;
        if (kind !== "continue" && ended.get(instanceId) !== undefined) return null;
        if (kind === "delivery" && isSent.get(instanceId, triggerId) !== undefined) return null;
        const waiting = Number(unread.get(instanceId)?.n);
        if (kind !== "continue" && waiting >= inboxLimits.unread) {
          const reason = `${instanceId} has ${waiting} messages that it has not received yet`;
          throw new Problem("refused", reason);
        }
        const row = insert.get(at, instanceId, kind, text, JSON.stringify(by), triggerId);
        const [seq, receivedAt] = [Number(row?.seq), null];
        return { seq, at, instanceId, kind, text, by, receivedAt, continuedBy: null };
      }),
    /** The messages to a live run after one, the first one first. */
    after: (instanceId: string, seq: number): readonly InboxMessage[] =>
      after.all(instanceId, seq).map(messageOf),
    /** All messages about a run, the first one first. */
    ofRun: (instanceId: string): readonly InboxMessage[] => ofRun.all(instanceId).map(messageOf),
    /** The deliveries that a run has taken wait again; resolves to them. */
    putBack: (instanceId: string): Promise<readonly WorkItem[]> =>
      record(() => (putBack.all(instanceId) as unknown as WorkRow[]).map(itemOf)),
    /** The deliveries of a session key that wait, in order. */
    waiting: (agent: string, session: string): readonly WorkItem[] =>
      (waiting.all(agent, session) as unknown as WorkRow[]).map(itemOf),
    /** Marks the messages up to this one as received, and resolves to the deliveries among them, which the run has taken. */
    received: (instanceId: string, seq: number, at: number): Promise<readonly Taken[]> =>
      record(() => received(instanceId, seq, at)),
    /** Marks as `received` does, and resolves to the messages after it, too; without any, the session ends. */
    last: (instanceId: string, seq: number, at: number) =>
      record(() => {
        const taken = received(instanceId, seq, at);
        const found = after.all(instanceId, seq).map(messageOf);
        if (found.length === 0) end.run(instanceId);
        return { taken, found };
      }),
    /** The run's session has ended: people can send it no more, also after a restart of the scheduler. */
    end: (instanceId: string): Promise<unknown> => record(() => end.run(instanceId)),
    isOver: (instanceId: string): boolean => ended.get(instanceId) !== undefined,
  };
}

/** Deliveries that runs have taken wait again; the condition on the runs follows. */
export const takenAgain = `UPDATE triggers SET state = 'queued', outcome = NULL, reason = NULL, instance_id = NULL
  WHERE id IN (SELECT trigger_id FROM inbox WHERE kind = 'delivery' AND received_at IS NOT NULL AND instance_id`;

/** Work that a run took from its queue. */
interface Taken {
  readonly itemId: string;
  readonly agent: string;
}

export type InboxStore = ReturnType<typeof createInboxStore>;

function messageOf(row: unknown): InboxMessage {
  return withJson(row, "by");
}

export interface NewMessage {
  readonly instanceId: string;
  readonly kind: InboxKind;
  readonly text: string;
  readonly by: Person;
  /** The work that continues the run, for `continue`; the work of the delivery, for `delivery`. */
  readonly triggerId?: string;
}
