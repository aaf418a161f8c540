import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import type { TestScheduler } from "../../helpers/scheduler.ts";
import { benchProject } from "../bench-project.ts";
import { figureOf, type Figure, type Measure } from "../figure.ts";
import { withBare, withFolder } from "../floors.ts";
import { longestBlock } from "../loop-delay.ts";
import { repeated } from "../repeated.ts";
import { probeEnv } from "../soak/probed.ts";
import { withScheduler } from "../with-scheduler.ts";

/** The project allows one run, which lasts: all others wait in the first minute, and every later tick is skipped. */
const config = `schedule = "* * * * *"
hooks.pre = ["sleep 3600"]`;
const minute = 60_000;

/** One minute of many agents, in ms after the moment that they are due. */
interface Minute {
  /** When each tick was taken: dispatched or skipped. */
  readonly taken: readonly number[];
  /** When all of it was in the database. */
  readonly durable: number;
  readonly blocked: number;
}

/** A thousand agents that are due in the same second; beside them a bare timer and one transaction. */
export const cron: Measure = {
  name: "cron",
  run: ({ repeats, quick }) => ticksAtOnce(quick ? 20 : 1_000, quick ? 1 : repeats),
};

/** So many agents that are due in the same second, for so many minutes. */
function ticksAtOnce(agents: number, minutes: number): Promise<readonly Figure[]> {
  const project = benchProject({ count: agents, config: () => config });
  return withScheduler(
    project,
    async (scheduler) => {
      const bare = await repeated(10, () => bareTick(agents));
      const measured = await repeated(minutes, () => nextMinute(scheduler, agents));
      return figures(agents, measured, bare);
    },
    probeEnv,
  );
}

function figures(
  agents: number,
  minutes: readonly Minute[],
  bare: readonly Awaited<ReturnType<typeof bareTick>>[],
): readonly Figure[] {
  const name = `${agents} cron agents due at once`;
  const taken = minutes.flatMap((one) => one.taken);
  const durable = minutes.map((one) => one.durable);
  const blocked = minutes.map((one) => one.blocked);
  const [late, committed] = [bare.map((one) => one.late), bare.map((one) => one.durable)];
  return [
    figureOf(`${name}: dispatched or skipped`, "ms", taken, {
      floor: late,
      target: { most: 100 },
    }),
    figureOf(`${name}: all in the database`, "ms", durable, { floor: committed }),
    figureOf(`${name}: longest block of the event loop`, "ms", blocked),
  ];
}

async function nextMinute(scheduler: TestScheduler, agents: number): Promise<Minute> {
  // Room to read the probe before it.
  const due = Math.ceil((Date.now() + 3_000) / minute) * minute;
  await wait(due - Date.now() - 3_000);
  const { ms, result } = await longestBlock(scheduler, () => ticksOf(scheduler, due, agents));
  return { ...result, blocked: ms };
}

/** Reads from outside how far cron came with each agent, until it came past that moment with all. */
async function ticksOf(
  { project }: TestScheduler,
  due: number,
  agents: number,
): Promise<Omit<Minute, "blocked">> {
  const db = new DatabaseSync(join(project.dir, ".al", "state.db"), { readOnly: true });
  try {
    const select = db.prepare("SELECT last_at AS at FROM cron_ticks WHERE last_at >= ?");
    await wait(due - Date.now());
    while (Date.now() < due + 30_000) {
      const rows = select.all(due);
      const durable = Date.now() - due;
      if (rows.length === agents) return { taken: rows.map(({ at }) => Number(at) - due), durable };
      await wait(2);
    }
    throw new Error(`not all ticks of ${new Date(due).toISOString()} were taken within 30 s`);
  } finally {
    db.close();
  }
}

function bareTick(rows: number): Promise<{ readonly late: number; readonly durable: number }> {
  return withFolder((dir) => {
    const args = [join(dir, "floor.db"), String(Date.now() + 500), String(rows)];
    return withBare("bare-tick.ts", args, ({ said }) => {
      const [late = Number.NaN, durable = Number.NaN] = said.split(" ").map(Number);
      return Promise.resolve({ late, durable });
    });
  });
}
