import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Engine } from "../../../src/runtime/runners/container/engine.ts";
import type { StatusSnapshot } from "../../../streams/status/wire.ts";
import { removeAll } from "../../helpers/container-project.ts";
import { defaultTestImage, testBase, testEngine } from "../../helpers/docker.ts";
import type { TestProject, TestScheduler } from "../../helpers/scheduler.ts";
import { benchProject } from "../bench-project.ts";
import { figureOf, type Figure, type Measure } from "../figure.ts";
import { askHealth } from "../health.ts";
import { longestBlock } from "../loop-delay.ts";
import { repeated } from "../repeated.ts";
import { probeEnv } from "../soak/probed.ts";
import { withScheduler } from "../with-scheduler.ts";

const atOnce = 10;
const config = `models = ["scripted"]\ncredentials = []\nschedule = "0 3 1 1 *"\ntimeout = 120\n`;

/** How long the gateway stands still while ten containers start at once; beside it, while nothing happens. */
export const containers: Measure = {
  name: "containers",
  run: async ({ repeats, quick }) => {
    const { engine, missing } = await testEngine();
    if (missing !== null) {
      process.stderr.write(`skipped: ${missing}\n`);
      return [];
    }
    await defaultTestImage(engine);
    const project = containerAgents(engine, quick ? 2 : atOnce);
    return withScheduler(project, (scheduler) => measured(scheduler, repeats), probeEnv);
  },
};

interface Watched {
  readonly blockedMs: number;
  /** Latency of each answer of /health. */
  readonly latencies: readonly number[];
}

async function measured(scheduler: TestScheduler, repeats: number): Promise<readonly Figure[]> {
  const { length } = await allIdle(scheduler);
  // The first runs are slower than those that follow, for everybody.
  await startAll(scheduler);
  const resting = await repeated(repeats, () => watched(scheduler, () => wait(2_000)));
  const starting = await repeated(repeats, () => watched(scheduler, () => startAll(scheduler)));
  const blocks = (of: readonly Watched[]): number[] => of.map(({ blockedMs }) => blockedMs);
  const latencies = (of: readonly Watched[]): number[] => of.flatMap((one) => one.latencies);
  return [
    figureOf(
      `${length} containers at once: longest block of the event loop`,
      "ms",
      blocks(starting),
      { floor: blocks(resting), target: { most: 50 } },
    ),
    figureOf(`${length} containers at once: GET /health`, "ms", latencies(starting), {
      floor: latencies(resting),
      target: { p99: 50 },
    }),
  ];
}

async function watched(scheduler: TestScheduler, during: () => Promise<unknown>): Promise<Watched> {
  const { ms, result } = await longestBlock(scheduler, () => askHealth(scheduler.url, during));
  return { blockedMs: ms, latencies: result };
}

/** Triggers every agent in one moment; resolves when all runs are over. */
async function startAll(scheduler: TestScheduler): Promise<void> {
  const { agents } = await statusOf(scheduler);
  const since = new Date().toISOString();
  const trigger = (name: string): Promise<Response> =>
    scheduler.api(`/control/trigger/${name}`, { method: "POST" });
  await Promise.all(agents.map(({ name }) => trigger(name)));
  const over = await allIdle(scheduler, since);
  const bad = over.filter(({ lastOutcome }) => lastOutcome !== "succeeded");
  if (bad.length > 0) throw new Error(`${bad.length} containers failed:\n${scheduler.output()}`);
}

/** Resolves when no agent runs or builds, and each ran since that moment. */
async function allIdle(scheduler: TestScheduler, since = ""): Promise<StatusSnapshot["agents"]> {
  for (let tries = 0; tries < 480; tries++) {
    const { agents } = await statusOf(scheduler);
    const isOver = agents.every(
      ({ state, queued, lastRunAt }) =>
        state === "idle" && queued === 0 && (lastRunAt ?? "") >= since,
    );
    if (isOver) return agents;
    await wait(250);
  }
  throw new Error(`the runs did not end within two minutes:\n${scheduler.output()}`);
}

async function statusOf({ api }: TestScheduler): Promise<StatusSnapshot> {
  return (await (await api("/control/status")).json()) as StatusSnapshot;
}

async function containerAgents(engine: Engine, count: number): Promise<TestProject> {
  const project = await benchProject({ count, scale: count, whole: true, config: () => config });
  const local = `[local]\nbase = "${testBase}"\nnetwork = "none"\nmemory = "512m"\n`;
  await appendFile(join(project.dir, "config.toml"), local);
  return {
    ...project,
    remove: async () => {
      await removeAll(engine, project.dir);
      await project.remove();
    },
  };
}
