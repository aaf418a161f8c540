import type { DatabaseSync } from "node:sqlite";
import type { Schedule } from "../../streams/triggers/next-tick.ts";
import type { GroupCommit } from "./group-commit.ts";

/** When an agent's schedule was last looked at, epoch ms: at a tick, a change or a start. */
export interface LastTick {
  readonly at: number;
  /** The schedule that was in force; null when there was none, or a version wrote it that did not tell. */
  readonly schedule: Schedule | null;
}

/** What survives a restart besides work: switches that a person set, and how far cron came. */
export interface Settings {
  paused(): boolean;
  setPaused(paused: boolean): Promise<void>;
  /** Names of the agents that a person disabled. */
  disabledAgents(): ReadonlySet<string>;
  setDisabled(agent: string, disabled: boolean): Promise<void>;
  /** When a scheduler last said that it lives, epoch ms; null before the first time. */
  lastAlive(): number | null;
  recordAlive(at: number): Promise<void>;
  /** When a scheduler last began to stop, epoch ms; null before the first time. */
  stoppedAt(): number | null;
  recordStop(at: number): Promise<void>;
  lastTicks(): ReadonlyMap<string, LastTick>;
  /** Waits for the store. */
  recordTick(agent: string, tick: LastTick): Promise<void>;
}

const planPrefix = "cron_plan/";

/** Reads and writes the settings tables. */
export function createSettings(db: DatabaseSync, { write, record }: GroupCommit): Settings {
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

  return {
    paused: () => get.get("paused")?.value === "true",
    setPaused: (paused) => put("paused", String(paused)),
    disabledAgents: () => new Set(disabled.all().map((row) => String(row.agent))),
    setDisabled: (agent, off) =>
      write(() => {
        (off ? disable : enable).run(agent);
      }),
    lastAlive: () => numberIn(get.get("last_alive")?.value),
    recordAlive: (at) => put("last_alive", String(at)),
    stoppedAt: () => numberIn(get.get("stopped_at")?.value),
    recordStop: (at) => put("stopped_at", String(at)),
    lastTicks: () => {
      const schedules = new Map(plans.all().map(({ name, value }) => [name, scheduleIn(value)]));
      return new Map(
        ticks.all().map(({ agent, at }) => {
          const schedule = schedules.get(`${planPrefix}${String(agent)}`) ?? null;
          return [String(agent), { at: Number(at), schedule }];
        }),
      );
    },
    recordTick: (agent, { at, schedule }) =>
      record(() => {
        tick.run(agent, at);
        set.run(`${planPrefix}${agent}`, JSON.stringify(schedule));
      }),
  };
}

function numberIn(value: unknown): number | null {
  return value === undefined ? null : Number(value);
}

function scheduleIn(value: unknown): Schedule | null {
  return JSON.parse(String(value)) as Schedule | null;
}
