import { statSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { openStore } from "../../../src/foundation/store/store.ts";
import { pruneLogs } from "../../../src/foundation/logs/retention.ts";
import { figureOf } from "../figure.ts";
import type { Figure } from "../figure.ts";

const resolution = 10;

/** What is kept of the history and the logs. */
const days = 2;

/** Pruning, in this process: how long it takes, and for how long at a time it holds up all else. */
export async function storeFigures(projectDir: string): Promise<readonly Figure[]> {
  const path = join(projectDir, ".al", "state.db");
  const before = statSync(path).size;
  const store = openStore(projectDir);
  const entries = store.history.query({ page: 1, limit: 1 }).total;
  const limits = { now: Date.now(), days, maxBytes: 1e12 };
  const rows = await blocked(() => store.prune(limits));
  const logs = await blocked(() => pruneLogs(projectDir, limits));
  store.close();
  const { triggers } = rows.result;
  return [
    figureOf("the database, for each run", "bytes", [before / entries]),
    {
      ...figureOf("pruning: runs", "/s", [(triggers * 1_000) / rows.ms]),
      processorMs: rows.processorMs / triggers,
    },
    figureOf("pruning: longest block of the event loop", "ms", [rows.longest]),
    figureOf("pruning of the logs", "ms", [logs.ms]),
    figureOf("pruning of the logs: longest block", "ms", [logs.longest]),
  ];
}

async function blocked<T>(work: () => Promise<T>) {
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  const [began, before] = [performance.now(), process.cpuUsage()];
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  delay.disable();
  const longest = Math.max(0, delay.max / 1e6 - resolution);
  return { result, longest, ms: performance.now() - began, processorMs: (user + system) / 1000 };
}
