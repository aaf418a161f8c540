import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { loadavg } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { startSmallCluster } from "../../helpers/kubernetes/small-cluster.ts";
import type { TestProject, TestScheduler } from "../../helpers/scheduler.ts";
import { agentName, benchProject } from "../bench-project.ts";
import { figureOf } from "../figure.ts";
import type { Figure, Measure } from "../figure.ts";
import { simulatedRuns } from "../remote/simulated-runs.ts";
import type { SimulatedRuns } from "../remote/simulated-runs.ts";
import { processorMs } from "../scale/processor.ts";
import { probeEnv, takeSample } from "../soak/probed.ts";
import { withScheduler } from "../with-scheduler.ts";

const agents = 100;
const longestMs = 300_000;

/** A thousand runs at once on other machines, which are simulated: TLS, claims, lines, inboxes and ends are real. */
export const remote: Measure = {
  name: "remote",
  run: async ({ quick }) => {
    const count = quick ? 100 : 1_000;
    const runs = simulatedRuns();
    const cluster = await startSmallCluster({ start: runs.start, nodes: nodes() });
    try {
      const figures = await withScheduler(
        clusterProject(count),
        (scheduler) => measured(scheduler, runs, count, quick ? 5 : 30),
        (project) => ({
          ...probeEnv(project),
          KUBECONFIG: cluster.kubeconfig,
          // Not what this machine trusts: each job would hold it.
          NODE_EXTRA_CA_CERTS: undefined,
        }),
      );
      const prefix = `${count.toLocaleString("en-US")} runs at once`;
      return figures.map((figure) => ({ ...figure, name: `${prefix}: ${figure.name}` }));
    } finally {
      await cluster.stop();
    }
  },
};

function nodes() {
  return Array.from({ length: 10 }, (_, n) => ({ name: `node-${n}` }));
}

async function clusterProject(count: number): Promise<TestProject> {
  const each = count / agents;
  const project = await benchProject({
    count: agents,
    whole: true,
    scale: count,
    config: () => `models = ["scripted"]\ncredentials = []\ncallable = true\nscale = ${each}\n`,
  });
  const port = await freePort();
  const table = `[cluster]
engine = "kubernetes"
address = "127.0.0.1:${port}"
listen = "127.0.0.1:${port}"
image = "registry.example.com/agents:1"
[local]
timeout = 3600
starting = 100
`;
  await appendFile(join(project.dir, "config.toml"), table);
  return project;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function measured(
  scheduler: TestScheduler,
  runs: SimulatedRuns,
  count: number,
  seconds: number,
): Promise<readonly Figure[]> {
  // The first tenth loads the engine's client: what is held for each run is what the others add.
  const first = count / 10;
  await startRuns(scheduler, runs, 0, first);
  await wait(5_000);
  const before = await takeSample(scheduler, performance.now());
  return [
    ...(await started(scheduler, runs, first, count)),
    ...(await held(scheduler, before, count - first)),
    ...(await steady(scheduler, runs, { count, seconds })),
    ...(await burst(scheduler, runs, { count, each: 100 })),
    ...(await ended(scheduler, runs, count)),
  ];
}

/** From the first trigger until the last run has its job. */
async function started(
  scheduler: TestScheduler,
  runs: SimulatedRuns,
  from: number,
  to: number,
): Promise<readonly Figure[]> {
  const spent = stopwatch(scheduler);
  await startRuns(scheduler, runs, from, to);
  const { ms, processor } = spent();
  const { delayMs } = await takeSample(scheduler, performance.now());
  say(`started; load ${loadavg()[0]?.toFixed(1) ?? "?"}`);
  const count = to - from;
  return [
    {
      ...figureOf("starts, from trigger to job", "/s", [(count * 1_000) / ms]),
      processorMs: processor / count,
    },
    figureOf("longest block of the event loop while they start", "ms", [delayMs.max]),
  ];
}

async function startRuns(
  scheduler: TestScheduler,
  runs: SimulatedRuns,
  from: number,
  to: number,
): Promise<void> {
  const numbers = Array.from({ length: to - from }, (_, n) => from + n);
  await Promise.all(numbers.map((n) => trigger(scheduler, agentName(n % agents))));
  await until("claims", () => runs.claimed() === to && runs.unstored() === 0);
}

async function trigger({ api }: TestScheduler, agent: string): Promise<void> {
  const answer = await api(`/control/trigger/${agent}`, { method: "POST" });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`the trigger of ${agent}: ${answer.status} ${text}`);
}

/** What a run holds that is open and silent. */
async function held(
  scheduler: TestScheduler,
  before: Awaited<ReturnType<typeof takeSample>>,
  count: number,
): Promise<readonly Figure[]> {
  await wait(10_000);
  const spent = stopwatch(scheduler);
  await wait(20_000);
  const { ms, processor } = spent();
  const now = await takeSample(scheduler, performance.now());
  const each = (bytes: number): number => bytes / count / 1024;
  return [
    figureOf("heap, each (KB)", "", [each(now.heapBytes - before.heapBytes)]),
    figureOf("buffers, each (KB)", "", [each(now.externalBytes - before.externalBytes)]),
    figureOf("resident, each (KB)", "", [each(now.residentBytes - before.residentBytes)]),
    figureOf("open files, each", "", [(now.fds - before.fds) / count]),
    figureOf("of a core, when they are silent", "%", [(100 * processor) / ms]),
    figureOf("longest block of the event loop, when they are silent", "ms", [now.delayMs.max]),
  ];
}

/** Each run writes a line a second. */
async function steady(
  scheduler: TestScheduler,
  runs: SimulatedRuns,
  { count, seconds }: { readonly count: number; readonly seconds: number },
): Promise<readonly Figure[]> {
  await takeSample(scheduler, performance.now());
  const spent = stopwatch(scheduler);
  const stored: number[] = [];
  for (let second = 0; second < seconds; second++) {
    const began = performance.now();
    runs.write(1);
    await until("lines", () => runs.unstored() === 0);
    stored.push(performance.now() - began);
    await wait(Math.max(0, 1_000 - (performance.now() - began)));
  }
  const { ms, processor } = spent();
  const { delayMs } = await takeSample(scheduler, performance.now());
  return [
    {
      ...figureOf("of a core, with a line a second of each", "%", [(100 * processor) / ms]),
      processorMs: processor / seconds / count,
    },
    figureOf("lines of all of them at once, until they are in the logs", "ms", stored),
    figureOf("longest block of the event loop, with a line a second of each", "ms", [delayMs.max]),
  ];
}

/** As many lines as it takes, in requests of many lines. */
async function burst(
  scheduler: TestScheduler,
  runs: SimulatedRuns,
  { count, each }: { readonly count: number; readonly each: number },
): Promise<readonly Figure[]> {
  const spent = stopwatch(scheduler);
  runs.write(each);
  await until("lines", () => runs.unstored() === 0);
  const { ms, processor } = spent();
  const lines = count * each;
  return [
    {
      ...figureOf(`lines in a burst of ${lines.toLocaleString("en-US")}`, "/s", [
        (lines * 1_000) / ms,
      ]),
      processorMs: processor / lines,
    },
  ];
}

async function ended(
  scheduler: TestScheduler,
  runs: SimulatedRuns,
  count: number,
): Promise<readonly Figure[]> {
  const spent = stopwatch(scheduler);
  runs.endAll();
  await until("ends", () => runs.over() === count);
  const { ms, processor } = spent();
  const answer = await scheduler.api("/api/stats/triggers?outcome=succeeded&limit=1");
  const { total } = (await answer.json()) as { total: number };
  if (total !== count) throw new Error(`${total} of ${count} runs succeeded`);
  return [
    {
      ...figureOf("ends, all at once", "/s", [(count * 1_000) / ms]),
      processorMs: processor / count,
    },
  ];
}

/** Wall and processor time of the scheduler from now on. */
function stopwatch({
  pid,
}: TestScheduler): () => { readonly ms: number; readonly processor: number } {
  const [began, before] = [performance.now(), processorMs(pid)];
  return () => ({ ms: performance.now() - began, processor: processorMs(pid) - before });
}

async function until(what: string, isDone: () => boolean): Promise<void> {
  const began = performance.now();
  while (!isDone()) {
    if (performance.now() - began > longestMs) throw new Error(`${what} took more than 5 minutes`);
    await wait(10);
  }
}

function say(message: string): void {
  process.stderr.write(`${message}\n`);
}
