import { setTimeout as wait } from "node:timers/promises";
import { startSockets } from "../../faults/load/hostile-runs/started.ts";
import { figureOf, type Measure } from "../figure.ts";
import { withFolder } from "../floors.ts";
import { askHealth } from "../health.ts";
import { startHop } from "../hop.ts";

/** What the scheduler takes, and how soon it answers others, while ten runs send all that costs memory or time. */
export const hostileRuns: Measure = {
  name: "hostile-runs",
  run: ({ quick }) =>
    withFolder(async (folder) => {
      await using children = new AsyncDisposableStack();
      const { runs, url, peakMb } = await startSockets(children, folder, 10);
      await startHop(children, "hostile-attack.ts", JSON.stringify(runs));
      const latencies = await askHealth(url, () => wait(quick ? 3_000 : 20_000));
      const name = "10 hostile runs at once";
      return [
        figureOf(`${name}: GET /health`, "ms", latencies, { target: { p99: 250 } }),
        figureOf(`${name}: memory`, "MB", [await peakMb()], { target: { most: 400 } }),
      ];
    }),
};
