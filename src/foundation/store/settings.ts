import type { DatabaseSync } from "node:sqlite";
import type { Schedule } from "../../../streams/triggers/next-tick.ts";
import type { GroupCommit } from "./group-commit.ts";
import { prepareOffSpans } from "./slots.ts";

/** When an agent's schedule was last checked, epoch ms: at a tick, a change or a start. */
export interface LastTick {
  readonly at: number;
  /** The active schedule; null if there was none, or an older version did not store it. */
  readonly schedule: Schedule | null;
}

/** The pause by a person. `since` is epoch ms, null without a pause or if an older version paused. */
export interface Pause {
  readonly schedules: boolean;
  /** All new work. */
  readonly work: boolean;
  readonly since: number | null;
}

const planPrefix = "cron_plan/";

/** Reads and writes the state that survives a restart besides work: switches that a person set, and how far cron came. */
export function createSettings(
  db: DatabaseSync,
  { write, record }: GroupCommit,
  now: () => number,
) {
  const recordOff = prepareOffSpans(db);
  const get = db.prepare("SELECT value FROM settings WHERE name = ?");
  const set = db.prepare(
    "INSERT INTO settings VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
  );
  const disabled = db.prepare("SELECT agent FROM disabled_agents");
  const disable = db.prepare("INSERT INTO disabled_agents VALUES (?) ON CONFLICT DO NOTHING");
  const enable = db.prepare("DELETE FROM disabled_agents WHERE agent = ?");
  const ticks = db.prepare("SELECT agent, last_at AS at FROM cron_ticks");
  const tick = db.prepare(
    "INSERT INTO cron_ticks VALUES (?, ?) ON CONFLICT DO UPDATE SET last_at = excluded.last_at",
  );
  const plans = db.prepare(`SELECT name, value FROM settings WHERE name LIKE '${planPrefix}%'`);
  const put = (name: string, value: string): Promise<void> =>
    write(() => {
      set.run(name, value);
    });

  const release = db.prepare(
    "UPDATE settings SET value = 'false' WHERE name = 'paused_work' AND value = 'entering'",
  );
  // While paused work enters its queues after a resume, the value is "entering".
  const isWorkHeld = (): boolean => (get.get("paused_work")?.value ?? "false") !== "false";

  return {
    pause: (): Pause => ({
      schedules: get.get("paused")?.value === "true",
      work: get.get("paused_work")?.value === "true",
      since: numberIn(get.get("paused_since")?.value) || null,
    }),
    setPause: ({ schedules, work, since }: Pause) =>
      write(() => {
        set.run("paused", String(schedules));
        set.run("paused_work", work ? "true" : isWorkHeld() ? "entering" : "false");
        set.run("paused_since", String(since ?? 0));
        recordOff(null, schedules, since ?? now());
      }),
    /** Whether waiting work may be in the store alone, outside of all queues. */
    isWorkHeld,
    /** All work that was paused has entered its queue. Waits for the store. */
    recordWorkReleased: (): Promise<void> =>
      record(() => {
        release.run();
      }),
    /** The project's own key for hashes of secret values. */
    maskKey: () => String(get.get("mask_key")?.value),
    /** The project's own key for the signatures of answer links. */
    answerKey: () => String(get.get("answer_key")?.value),
    /** Names of the agents that a person disabled. */
    disabledAgents: (): ReadonlySet<string> =>
      new Set(disabled.all().map((row) => String(row.agent))),
    setDisabled: (agent: string, off: boolean): Promise<void> =>
      write(() => {
        (off ? disable : enable).run(agent);
        recordOff(agent, off, now());
      }),
    /** The last heartbeat of a scheduler, epoch ms; null before the first. */
    lastAlive: () => numberIn(get.get("last_alive")?.value),
    recordAlive: (at: number) => put("last_alive", String(at)),
    /** When a scheduler last began to stop, epoch ms; null before the first time. */
    stoppedAt: () => numberIn(get.get("stopped_at")?.value),
    recordStop: (at: number) => put("stopped_at", String(at)),
    lastTicks: (): ReadonlyMap<string, LastTick> => {
      const schedules = new Map(plans.all().map(({ name, value }) => [name, scheduleIn(value)]));
      return new Map(
        ticks.all().map(({ agent, at }) => {
          const schedule = schedules.get(`${planPrefix}${String(agent)}`) ?? null;
          return [String(agent), { at: Number(at), schedule }];
        }),
      );
    },
    /** Waits for the store. */
    recordTick: (agent: string, { at, schedule }: LastTick): Promise<void> =>
      record(() => {
        tick.run(agent, at);
        set.run(`${planPrefix}${agent}`, JSON.stringify(schedule));
      }),
  };
}

export type Settings = ReturnType<typeof createSettings>;

function numberIn(value: unknown): number | null {
  return value === undefined ? null : Number(value);
}

function scheduleIn(value: unknown): Schedule | null {
  return JSON.parse(String(value)) as Schedule | null;
}
