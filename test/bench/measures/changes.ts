import { appendFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { TestScheduler } from "../../helpers/scheduler.ts";
import { agentConfig, agentName, benchProject } from "../bench-project.ts";
import { figureOf } from "../figure.ts";
import type { Figure, Measure } from "../figure.ts";
import { openSse } from "../sse-client.ts";
import { withScheduler } from "../with-scheduler.ts";

const statusStream = "/dashboard/api/status-stream";

/** How long it takes until people see what happened: a save, a change of state, a run, a log line. */
export const changes: Measure = {
  name: "changes",
  run: ({ repeats, quick }) => {
    const agents = quick ? 20 : 1_000;
    const times = quick ? 3 : 10 * repeats;
    const project = benchProject({ count: agents, config: () => 'schedule = "0 3 1 1 *"' });
    return withScheduler(project, async (scheduler) => [
      figureOf(`save → in force, ${agents} agents`, "ms", await saves(scheduler, times), {
        target: "150 ms, p99 400 ms",
      }),
      ...(await fanOut(scheduler, quick ? 10 : 200, times)),
      ...(quick ? [] : await fanOut(scheduler, 1_000, times)),
      figureOf("trigger → running at the client", "ms", await runs(scheduler, times), {
        target: "50 ms",
      }),
      figureOf("log line → client", "ms", await logLines(scheduler, times), {
        target: "100 ms, at most 500 ms",
      }),
    ]);
  },
};

/** Saves an agent's config with another schedule each time. */
async function saves(scheduler: TestScheduler, times: number): Promise<number[]> {
  const client = await openSse(scheduler, statusStream);
  const path = join(scheduler.project.dir, "agents", agentName(7), "config.toml");
  const delays: number[] = [];
  for (let n = 0; n < times; n++) {
    const seen = client.waitFor(`"name":"${agentName(7)}"`);
    const began = performance.now();
    await writeFile(path, agentConfig(`schedule = "0 ${4 + (n % 20)} 2 1 *"`));
    delays.push((await seen).at - began);
    await wait(150);
  }
  client.close();
  return delays;
}

/** Changes one agent's state and waits until so many clients know. */
async function fanOut(
  scheduler: TestScheduler,
  clients: number,
  times: number,
): Promise<readonly Figure[]> {
  const all = await Promise.all(
    Array.from({ length: clients }, () => openSse(scheduler, statusStream)),
  );
  const [delays, sizes]: [number[], number[]] = [[], []];
  for (let n = 0; n < times; n++) {
    const enabled = n % 2 === 1;
    const path = `/control/agents/${agentName(3)}/${enabled ? "enable" : "disable"}`;
    const seen = all.map((client) => client.waitFor(agentName(3), `"enabled":${enabled}`));
    const began = performance.now();
    await scheduler.api(path, { method: "POST" });
    for (const { at, bytes } of await Promise.all(seen)) {
      delays.push(at - began);
      sizes.push(bytes);
    }
    await wait(150);
  }
  for (const client of all) client.close();
  const target = clients === 200 ? "p99 150 ms" : clients === 1_000 ? "p99 400 ms" : null;
  return [
    figureOf(`status change → all of ${clients} clients`, "ms", delays, { target }),
    figureOf(`bytes of a change for each of ${clients} clients`, "bytes", sizes, {
      target: "1024 bytes",
    }),
  ];
}

async function runs(scheduler: TestScheduler, times: number): Promise<number[]> {
  const client = await openSse(scheduler, statusStream);
  const delays: number[] = [];
  for (let n = 0; n < Math.min(times, 10); n++) {
    const agent = agentName(10 + n);
    const seen = client.waitFor(`"${agent}"`, '"state":"running"');
    const over = client.waitFor(`"${agent}"`, '"lastOutcome":"succeeded"');
    const began = performance.now();
    await scheduler.api(`/control/trigger/${agent}`, { method: "POST" });
    delays.push((await seen).at - began);
    await over;
  }
  client.close();
  return delays;
}

/** Writes lines where the scheduler writes them, and waits for each at a follower. */
async function logLines(scheduler: TestScheduler, times: number): Promise<number[]> {
  const agent = agentName(10);
  const dir = join(scheduler.project.dir, ".al", "logs");
  const name = (await readdir(dir)).find((file) => file.startsWith(`${agent}-`)) ?? "";
  const client = await openSse(scheduler, `/dashboard/api/logs/${agent}/stream`);
  await wait(700);
  const delays: number[] = [];
  for (let n = 0; n < times; n++) {
    const msg = `line number ${n} of the bench`;
    const seen = client.waitFor(msg);
    const began = performance.now();
    const entry = { level: 30, time: Date.now(), msg, agent };
    await appendFile(join(dir, name), `${JSON.stringify(entry)}\n`);
    delays.push((await seen).at - began);
    await wait(37);
  }
  client.close();
  return delays;
}
