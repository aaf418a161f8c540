import { join } from "node:path";
import { pause } from "../../helpers/pause.ts";
import { benchProject } from "../bench-project.ts";
import { figureOf, type Figure, type Measure } from "../figure.ts";
import { withBare, withFolder } from "../floors.ts";
import { repeated } from "../repeated.ts";
import { residentMb, withScheduler } from "../with-scheduler.ts";

/** Agents, and to reach with them: ready after so many ms, with so many MB. */
const sizes = [
  [1, 280, 90],
  [100, 400, 100],
  [1_000, 900, 150],
  [5_000, 4_000, 350],
] as const;

/** From the start of the process until it says that it is ready, and its memory when it has come to rest. */
export const startUp: Measure = {
  name: "start-up",
  run: async ({ repeats }) => {
    const figures: Figure[] = [];
    for (const [count, readyMs, mb] of sizes) {
      const floors: Awaited<ReturnType<typeof bare>>[] = [];
      const runs = await repeated(repeats, async () => {
        floors.push(await bare());
        return scheduler(count);
      });
      const ready = runs.map((one) => one.readyMs);
      const memory = runs.map((one) => one.mb);
      figures.push(
        figureOf(`ready with ${count} agents`, "ms", ready, {
          floor: floors.map((one) => one.readyMs),
          target: { median: readyMs },
        }),
        figureOf(`memory with ${count} agents`, "MB", memory, {
          floor: floors.map((one) => one.mb),
          target: { median: mb },
        }),
      );
    }
    return figures;
  },
};

function scheduler(count: number) {
  const project = benchProject({ count, config: (n) => `schedule = "${n % 60} 3 * * *"` });
  return withScheduler(project, ({ pid }, readyMs) => atRest(pid, readyMs));
}

/** A process that only listens and opens a database. */
function bare() {
  return withFolder((dir) => {
    const began = performance.now();
    return withBare("bare-start.ts", [join(dir, "floor.db")], ({ pid }) =>
      atRest(pid, performance.now() - began),
    );
  });
}

async function atRest(pid: number, readyMs: number) {
  await pause(2_000, "the process comes to rest");
  return { readyMs, mb: await residentMb(pid) };
}
