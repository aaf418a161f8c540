import { appendFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { pause } from "../../helpers/pause.ts";
import type { TestScheduler } from "../../helpers/scheduler.ts";
import { bareChanges } from "../bare-changes.ts";
import { agentName, benchProject } from "../bench-project.ts";
import { figureOf, type Measure } from "../figure.ts";
import { repeated } from "../repeated.ts";
import { openSse } from "../sse-client.ts";
import { withScheduler } from "../with-scheduler.ts";
import { bareFanOut } from "./status.ts";

/** What people who watch a run see of it, and when. */
export const runs: Measure = {
  name: "runs",
  run: ({ repeats }) => {
    const times = 10 * repeats;
    return withScheduler(benchProject({ count: 1_000 }), async (scheduler) => [
      figureOf("trigger → running at the client", "ms", await triggers(scheduler, times), {
        floor: await bareFanOut(1, times, 600),
        target: { median: 50 },
      }),
      figureOf("log line → client", "ms", await logLines(scheduler, times), {
        floor: await bareChanges(times, (path, n) => appendFile(path, lineOf(n))),
        target: { median: 100, most: 500 },
      }),
    ]);
  },
};

async function triggers(scheduler: TestScheduler, times: number): Promise<number[]> {
  const client = await openSse(scheduler, "/dashboard/api/status-stream");
  const delays = await repeated(times, async (n) => {
    // Another one each time: none has an earlier outcome.
    const agent = agentName(n);
    const running = client.waitFor(`"${agent}"`, '"state":"running"');
    const succeeded = client.waitFor(`"${agent}"`, '"lastOutcome":"succeeded"');
    const began = performance.now();
    await scheduler.api(`/control/trigger/${agent}`, { method: "POST" });
    const { at } = await running;
    await succeeded;
    await pause(150, "the next change is not gathered with this one's end");
    return at - began;
  });
  client.close();
  return delays;
}

/** Writes lines where the scheduler writes them, and waits for each at a follower. */
async function logLines(scheduler: TestScheduler, times: number): Promise<number[]> {
  const agent = agentName(0);
  const dir = join(scheduler.project.dir, ".al", "logs");
  const name = (await readdir(dir)).find((file) => file.startsWith(`${agent}-`)) ?? "";
  const client = await openSse(scheduler, `/dashboard/api/logs/${agent}/stream`);
  await pause(700, "the follower has the lines so far");
  const delays = await repeated(times, async (n) => {
    const seen = client.waitFor(textOf(n));
    const began = performance.now();
    await appendFile(join(dir, name), lineOf(n));
    const { at } = await seen;
    await pause(37, "the next line comes in another turn");
    return at - began;
  });
  client.close();
  return delays;
}

const textOf = (n: number): string => `line number ${n} of the bench`;

function lineOf(n: number): string {
  return `${JSON.stringify({ level: 30, time: Date.now(), msg: textOf(n), agent: agentName(0) })}\n`;
}
