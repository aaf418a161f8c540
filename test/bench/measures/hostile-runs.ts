import { startSockets } from "../../faults/load/hostile-runs/started.ts";
import { pause } from "../../helpers/pause.ts";
import { figureOf, type Measure } from "../figure.ts";
import { withFolder } from "../floors.ts";
import { askHealth } from "../health.ts";
import { startHop } from "../hop.ts";

/** What the scheduler takes, and how soon it answers others, while runs send all that costs memory or time. */
export const hostileRuns: Measure = {
  name: "hostile-runs",
  run: async ({ quick }) => [
    ...(await measured("10 hostile runs at once", 10, "all", quick)),
    ...(await measured("4 runs that send objects of many keys", 4, "keys", quick)),
  ],
};

function measured(name: string, count: number, shapes: "all" | "keys", quick: boolean) {
  return withFolder(async (folder) => {
    await using children = new AsyncDisposableStack();
    const { runs, url, peakMb } = await startSockets(children, folder, count);
    const floor = await askHealth(url, () => pause(2_000, "health is asked"));
    await startHop(children, "hostile-attack.ts", JSON.stringify(runs), shapes);
    const latencies = await askHealth(url, () => pause(quick ? 3_000 : 20_000, "health is asked"));
    return [
      figureOf(`${name}: GET /health`, "ms", latencies, { floor, target: { p99: 250 } }),
      figureOf(`${name}: memory`, "MB", [await peakMb()], { target: { most: 400 } }),
    ];
  });
}
