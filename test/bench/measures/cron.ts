import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pause } from "../../helpers/pause.ts";
import type { TestScheduler } from "../../helpers/scheduler.ts";
import { benchProject } from "../bench-project.ts";
import { figureOf, type Measure } from "../figure.ts";
import { withBare, withFolder } from "../floors.ts";
import { longestBlock } from "../loop-delay.ts";
import { repeated } from "../repeated.ts";
import { probeEnv } from "../soak/probed.ts";
import { withScheduler } from "../with-scheduler.ts";

/** The project allows one run, which lasts: all others wait in the first minute, and every later tick is skipped. */
const config = () => `schedule = "* * * * *"
hooks.pre = ["sleep 3600"]`;
const minute = 60_000;

/** A thousand agents that are due in the same second; beside them a bare timer and one transaction. */
export const cron: Measure = {
  name: "cron",
  run: ({ repeats, quick }) => {
    const count = quick ? 20 : 1_000;
    const measured = async (scheduler: TestScheduler) => {
      const bare = await repeated(10, () => bareTick(count));
      const minutes = await repeated(quick ? 1 : repeats, () => nextMinute(scheduler, count));
      const name = `${count} cron agents due at once`;
      return [
        figureOf(
          `${name}: dispatched or skipped`,
          "ms",
          minutes.flatMap(({ result }) => result.taken),
          { floor: bare.map(([late = Number.NaN]) => late), target: { most: 100 } },
        ),
        figureOf(
          `${name}: all in the database`,
          "ms",
          minutes.map(({ result }) => result.durable),
          { floor: bare.map(([, durable = Number.NaN]) => durable) },
        ),
        figureOf(
          `${name}: longest block of the event loop`,
          "ms",
          minutes.map(({ ms }) => ms),
        ),
      ];
    };
    return withScheduler(benchProject({ count, config }), measured, probeEnv);
  },
};

async function nextMinute(scheduler: TestScheduler, agents: number) {
  // Room to read the probe before it.
  const due = Math.ceil((Date.now() + 3_000) / minute) * minute;
  await pause(due - Date.now() - 3_000, "the minute is awaited");
  return longestBlock(scheduler, () => ticksOf(scheduler, due, agents));
}

/** When each tick was taken (dispatched or skipped), and when all were in the database, in ms after they were due. */
async function ticksOf({ project }: TestScheduler, due: number, agents: number) {
  using db = new DatabaseSync(join(project.dir, ".al", "state.db"), { readOnly: true });
  const select = db.prepare("SELECT last_at AS at FROM cron_ticks WHERE last_at >= ?");
  await pause(due - Date.now(), "the minute is awaited");
  while (Date.now() < due + 30_000) {
    const rows = select.all(due);
    const durable = Date.now() - due;
    if (rows.length === agents) return { taken: rows.map(({ at }) => Number(at) - due), durable };
    await pause(2, "the database is read again");
  }
  throw new Error(`not all ticks of ${new Date(due).toISOString()} were taken within 30 s`);
}

/** How late the timer was, and when all was durable. */
function bareTick(rows: number): Promise<readonly number[]> {
  return withFolder((dir) => {
    const args = [join(dir, "floor.db"), String(Date.now() + 500), String(rows)];
    return withBare("bare-tick.ts", args, ({ said }) =>
      Promise.resolve(said.split(" ").map(Number)),
    );
  });
}
