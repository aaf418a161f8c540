import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import type { TestScheduler } from "../../helpers/scheduler.ts";
import { agentConfig, agentName } from "../bench-project.ts";
import { githubDeliveries } from "../deliveries.ts";
import { figureOf } from "../figure.ts";
import type { Figure } from "../figure.ts";
import { askHealth } from "../health.ts";
import { sendAll } from "../load.ts";
import { repeated } from "../repeated.ts";
import { openSse } from "../sse-client.ts";
import { agentLines } from "./large-project.ts";
import { processorMs } from "./processor.ts";

export interface EventOptions {
  readonly agents: number;
  readonly quick: boolean;
}

/** What comes from outside: an edit, a trigger by hand, deliveries for agent after agent; and a copy of the database. */
export async function eventFigures(
  scheduler: TestScheduler,
  { agents, quick }: EventOptions,
): Promise<readonly Figure[]> {
  const times = quick ? 3 : 20;
  return [
    await ofProcessor(scheduler, "save → in force", () => edits(scheduler, times)),
    await ofProcessor(scheduler, "trigger by hand → answered", () => triggers(scheduler, times)),
    ...(await deliveries(scheduler, agents, quick ? 300 : 10_000)),
    ...(await copies(scheduler)),
  ];
}

/** Single observations, in ms, and the processor time of one of them. */
async function ofProcessor(
  { pid }: TestScheduler,
  name: string,
  observe: () => Promise<readonly number[]>,
): Promise<Figure> {
  const before = processorMs(pid);
  const took = await observe();
  return {
    ...figureOf(name, "ms", took),
    processorMs: (processorMs(pid) - before) / took.length,
  };
}

async function edits(scheduler: TestScheduler, times: number): Promise<readonly number[]> {
  const agent = agentName(7);
  const path = join(scheduler.project.dir, "agents", agent, "config.toml");
  const client = await openSse(scheduler, "/dashboard/api/status-stream");
  const took = await repeated(times, async (n) => {
    const seen = client.waitFor(`"name":"${agent}"`);
    const began = performance.now();
    await writeFile(
      path,
      agentConfig(`${agentLines(7)}\n`.replace("1 1 *", `${1 + (n % 20)} 2 *`)),
    );
    const { at } = await seen;
    await wait(150);
    return at - began;
  });
  client.close();
  return took;
}

/** Of agents that have none yet: the project allows one run, so that they wait. */
function triggers({ api }: TestScheduler, times: number): Promise<readonly number[]> {
  return repeated(times, async (n) => {
    const began = performance.now();
    const answer = await api(`/control/trigger/${agentName(20 + n)}`, { method: "POST" });
    await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`the trigger was answered with ${answer.status}`);
    return performance.now() - began;
  });
}

async function deliveries(
  { url, pid }: TestScheduler,
  agents: number,
  count: number,
): Promise<readonly Figure[]> {
  const made = githubDeliveries({ count, repo: (n) => `acme/${agentName(n % agents)}` });
  const before = processorMs(pid);
  const load = await sendAll(url.replace("localhost", "127.0.0.1"), made, 50);
  const each = (processorMs(pid) - before) / count;
  if (load.statuses[200] !== count) throw new Error(`answers: ${JSON.stringify(load.statuses)}`);
  return [
    { ...figureOf("deliveries, each to another agent", "/s", [load.rate]), processorMs: each },
    figureOf("deliveries, latency of 50 connections", "ms", load.latencies),
  ];
}

/** A copy of the database by another process, as a backup makes it, while the scheduler answers. */
async function copies(scheduler: TestScheduler): Promise<readonly Figure[]> {
  const { dir } = scheduler.project;
  const db = new DatabaseSync(join(dir, ".al", "state.db"), { readOnly: true });
  const began = performance.now();
  let took = 0;
  const health = await askHealth(scheduler.url, async () => {
    await backup(db, join(dir, "..", "copy.db"), { rate: 1_000 });
    took = performance.now() - began;
  });
  db.close();
  return [
    figureOf("backup of the database", "ms", [took]),
    figureOf("GET /health during the backup", "ms", health),
  ];
}
