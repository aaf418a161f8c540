import type { DatabaseSync } from "node:sqlite";
import {
  slotOf,
  type LateStart,
  type TickSlot,
  type WorkItem,
} from "../../../streams/vocabulary.ts";
import type { GroupCommit } from "./group-commit.ts";
import { openTriggers, prepareInsert, queuedRow } from "./trigger-rows.ts";
import { v7 as uuidV7 } from "uuid";

/** A slot that was not started, as the history has it. `reason` is for a person. */
export interface RefusedSlot extends TickSlot {
  readonly reason: string;
}

/** A time in which schedules were paused (`agent` is null) or an agent was disabled, epoch ms; `until` is null while it is. */
export interface OffSpan {
  readonly agent: string | null;
  readonly since: number;
  readonly until: number | null;
}

const slotTables = `
  CREATE TABLE slots (
    agent TEXT NOT NULL,
    schedule TEXT NOT NULL, -- '' for the one without a name
    at INTEGER NOT NULL,
    late TEXT,
    trigger_id TEXT, -- of its first work; null while it is planned
    PRIMARY KEY (agent, at, schedule)
  ) WITHOUT ROWID, STRICT;
  CREATE INDEX slots_planned ON slots (agent, at) WHERE trigger_id IS NULL;
  CREATE TABLE off_spans (
    agent TEXT NOT NULL, -- '' for all agents
    since INTEGER NOT NULL,
    until INTEGER,
    PRIMARY KEY (agent, since)
  ) WITHOUT ROWID, STRICT;`;

/**
 * Each slot that was started or is planned, and the spans in which no slot is due. A slot is forgotten with the history
 * of its work, and no slot older than the history is started.
 */
export const missedSlots = `${slotTables}
  CREATE TRIGGER forget_slot AFTER DELETE ON triggers WHEN OLD.kind = 'cron' AND OLD.trigger IS NOT NULL BEGIN
    DELETE FROM slots WHERE agent = OLD.agent AND schedule = coalesce(OLD.trigger ->> '$.schedule', '')
      AND at = OLD.trigger ->> '$.scheduledFor' AND trigger_id = OLD.id;
  END;
  INSERT OR IGNORE INTO slots (agent, schedule, at, trigger_id)
    SELECT agent, '', trigger ->> '$.scheduledFor', id FROM triggers
    WHERE kind = 'cron' AND agent IS NOT NULL AND trigger IS NOT NULL
      AND (outcome IS NULL OR outcome NOT IN ('skipped', 'missed', 'dropped', 'rejected'));
  INSERT INTO off_spans SELECT '', CAST(since.value AS INTEGER), NULL FROM settings AS paused
    JOIN settings AS since ON since.name = 'paused_since' WHERE paused.name = 'paused' AND paused.value = 'true';
  INSERT INTO off_spans SELECT agent, unixepoch() * 1000, NULL FROM disabled_agents;`;

/** Takes slots for work and frees them again, inside the caller's transaction. */
export function prepareTakeSlot(db: DatabaseSync) {
  const take = db.prepare(
    "INSERT INTO slots (agent, schedule, at, trigger_id) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const free = db.prepare(`DELETE FROM slots WHERE ${isSlot} AND trigger_id = ?`);
  const changes = (statement: typeof take, item: WorkItem): number => {
    const slot = slotOf(item);
    if (slot === null) return 0;
    return Number(statement.run(item.agent, slot.schedule, slot.at, item.id).changes);
  };
  return {
    /** False if other work has the slot of this tick. */
    take: (item: WorkItem): boolean => changes(take, item) === 1,
    /** For an item that did not start. */
    free: (item: WorkItem): void => void changes(free, item),
  };
}

const isSlot = "agent = ? AND schedule = ? AND at = ?";

/** Records pauses and disabled agents, inside the caller's transaction; `agent` is null for a pause of all. */
export function prepareOffSpans(db: DatabaseSync) {
  const open = db.prepare(
    `INSERT INTO off_spans SELECT :agent, :at, NULL WHERE NOT EXISTS
       (SELECT 1 FROM off_spans WHERE agent = :agent AND until IS NULL) ON CONFLICT DO UPDATE SET until = NULL`,
  );
  const close = db.prepare("UPDATE off_spans SET until = ? WHERE agent = ? AND until IS NULL");
  return (agent: string | null, isOff: boolean, at: number): void => {
    if (isOff) open.run({ agent: agent ?? "", at });
    else close.run(at, agent ?? "");
  };
}

/** Refused ticks, in the order of one index. */
const refusedClasses = [
  ...["skipped", "missed", "rejected", "superseded"].flatMap((one) => [`${one}/0`, `${one}/1`]),
  "dropped/1",
];

/** The slots of schedules: which were started, which are planned, and why others were not started. `now` is epoch ms. */
export function createSlotStore(
  db: DatabaseSync,
  { write, record }: GroupCommit,
  now: () => number,
) {
  const insert = prepareInsert(db);
  const plan = db.prepare(
    "INSERT INTO slots (agent, schedule, at, late) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const started = db.prepare(
    "SELECT schedule, at FROM slots WHERE agent = ? AND at BETWEEN ? AND ?",
  );
  const planned = db.prepare(
    "SELECT schedule, at, late FROM slots WHERE agent = ? AND trigger_id IS NULL ORDER BY at",
  );
  const plannedAgents = db.prepare("SELECT DISTINCT agent FROM slots WHERE trigger_id IS NULL");
  const openLate = db.prepare(
    `SELECT 1 FROM ${openTriggers} AND kind = 'cron' AND agent = ? AND trigger ->> '$.late' IS NOT NULL`,
  );
  const begin = db.prepare(`UPDATE slots SET trigger_id = ? WHERE ${isSlot}`);
  const forget = db.prepare("DELETE FROM slots WHERE agent = ? AND trigger_id IS NULL");
  const refused = db.prepare(
    `SELECT coalesce(trigger ->> '$.schedule', '') AS schedule, trigger ->> '$.scheduledFor' AS at,
       outcome || ': ' || reason AS reason
     FROM triggers INDEXED BY triggers_by_agent_class
     WHERE agent = ? AND class IN (${refusedClasses.map((one) => `'cron/${one}'`).join(", ")})
       AND triggers.at >= ? ORDER BY triggers.at`,
  );
  const spans = db.prepare(
    `SELECT nullif(agent, '') AS agent, since, until FROM off_spans
     WHERE agent IN ('', ?) AND (until IS NULL OR until >= ?) ORDER BY since`,
  );
  const floor = db.prepare("SELECT value FROM settings WHERE name = 'history_from'");
  const plannedOf = (agent: string) => planned.all(agent) as unknown as PlannedSlot[];
  const itemOf = (agent: string, { schedule, at, late }: PlannedSlot): WorkItem => {
    const named = schedule === "" ? {} : { schedule };
    const trigger = { kind: "cron", scheduledFor: at, late, ...named } as const;
    return { id: uuidV7(), agent, at: now(), attempt: 1, trigger };
  };
  const planAll = (agent: string, slots: readonly TickSlot[], late: LateStart): TickSlot[] =>
    slots.filter(({ schedule, at }) => plan.run(agent, schedule, at, late).changes === 1);

  return {
    /** Plans slots that nothing has started or planned, and resolves to them. Waits for the store. */
    catchUp: (agent: string, slots: readonly TickSlot[]) =>
      record(() => planAll(agent, slots, "catch-up")),
    /** As `catchUp`, for a person: rejects with Problem `store_unavailable`. */
    backfill: (agent: string, slots: readonly TickSlot[]) =>
      write(() => planAll(agent, slots, "backfill")),
    /**
     * Makes the next planned slot of an agent work, which waits; null without one, and until the work of the one before it
     * has ended. `keyed` adds its concurrency key; a slot for which it returns null stays planned. Waits for the store.
     */
    startNext: (
      agent: string,
      keyed: (item: WorkItem) => WorkItem | null,
    ): Promise<WorkItem | null> =>
      record(() => {
        if (openLate.get(agent) !== undefined) return null;
        for (const next of plannedOf(agent)) {
          const item = keyed(itemOf(agent, next));
          if (item === null) continue;
          insert(queuedRow(item));
          begin.run(item.id, agent, next.schedule, next.at);
          return item;
        }
        return null;
      }),
    /** Records that the planned slots of an agent do not start, and resolves to their number. Waits for the store. */
    cancel: (agent: string, reason: string): Promise<number> =>
      record(() => {
        const slots = plannedOf(agent);
        forget.run(agent);
        for (const slot of slots) {
          const missed = { state: "ended", outcome: "missed", reason } as const;
          insert({ ...queuedRow(itemOf(agent, slot)), ...missed });
        }
        return slots.length;
      }),
    /** The agents with planned slots. */
    plannedAgents: () => plannedAgents.all().map(({ agent }) => String(agent)),
    /** How many slots of an agent are planned. */
    planned: (agent: string) => plannedOf(agent).length,
    /** The slots of an agent that were started or are planned, from a moment to another, both included. */
    started: (agent: string, from: number, to: number) =>
      started.all(agent, from, to) as unknown as readonly TickSlot[],
    /** The slots that were recorded as not started since a moment, the oldest first. Some were started later. */
    refused: (agent: string, since: number) =>
      refused.all(agent, since) as unknown as readonly RefusedSlot[],
    /** The spans in which the agent had no ticks, that last until a moment or longer. */
    offSpans: (agent: string, since: number) =>
      spans.all(agent, since) as unknown as readonly OffSpan[],
    /** The moment from which on the history is whole, epoch ms. */
    knownSince: () => Number(floor.get()?.value ?? 0),
  };
}

export type SlotStore = ReturnType<typeof createSlotStore>;

interface PlannedSlot extends TickSlot {
  readonly late: LateStart;
}
