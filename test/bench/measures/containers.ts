import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import type { Engine } from "../../../src/runtime/runners/container/engine.ts";
import type { StatusSnapshot } from "../../../streams/status/wire.ts";
import { removeAll } from "../../helpers/container-project.ts";
import { defaultTestImage, testBase, testEngine } from "../../helpers/docker.ts";
import { pause } from "../../helpers/pause.ts";
import type { TestProject, TestScheduler } from "../../helpers/scheduler.ts";
import { benchProject } from "../bench-project.ts";
import { figureOf, type Measure } from "../figure.ts";
import { askHealth } from "../health.ts";
import { longestBlock } from "../loop-delay.ts";
import { repeated } from "../repeated.ts";
import { probeEnv } from "../soak/probed.ts";
import { withScheduler } from "../with-scheduler.ts";

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
    const project = containerAgents(engine, quick ? 2 : 10);
    return withScheduler(project, (scheduler) => measured(scheduler, repeats), probeEnv);
  },
};

async function measured(scheduler: TestScheduler, repeats: number) {
  const { length } = await allIdle(scheduler);
  // The first runs are slower than those that follow, for everybody.
  await startAll(scheduler);
  const watched = async (during: () => Promise<unknown>) => {
    const rounds = await repeated(repeats, () =>
      longestBlock(scheduler, () => askHealth(scheduler.url, during)),
    );
    return {
      blocks: rounds.map(({ ms }) => ms),
      latencies: rounds.flatMap(({ result }) => result),
    };
  };
  const resting = await watched(() => pause(2_000, "nothing happens"));
  const starting = await watched(() => startAll(scheduler));
  const name = `${length} containers at once`;
  return [
    figureOf(`${name}: longest block of the event loop`, "ms", starting.blocks, {
      floor: resting.blocks,
      target: { most: 50 },
    }),
    figureOf(`${name}: GET /health`, "ms", starting.latencies, {
      floor: resting.latencies,
      target: { p99: 50 },
    }),
  ];
}

/** Triggers every agent in one moment; resolves when all runs are over. */
async function startAll(scheduler: TestScheduler): Promise<void> {
  const { agents } = await statusOf(scheduler);
  const since = new Date().toISOString();
  await Promise.all(
    agents.map(({ name }) => scheduler.api(`/control/trigger/${name}`, { method: "POST" })),
  );
  const over = await allIdle(scheduler, since);
  const bad = over.filter(({ lastOutcome }) => lastOutcome !== "succeeded");
  if (bad.length > 0) throw new Error(`${bad.length} containers failed:\n${scheduler.output()}`);
}

/** Resolves when no agent runs or builds, and each ran since that moment. */
async function allIdle(scheduler: TestScheduler, since = "") {
  for (let tries = 0; tries < 480; tries++) {
    const { agents } = await statusOf(scheduler);
    const isOver = agents.every(
      ({ state, queued, lastRunAt }) =>
        state === "idle" && queued === 0 && (lastRunAt ?? "") >= since,
    );
    if (isOver) return agents;
    await pause(250, "the runs are looked at again");
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
  const remove = async () => {
    await removeAll(engine, project.dir);
    await project.remove();
  };
  return { ...project, remove };
}
