import type { StatusSnapshot } from "../../../../streams/status/wire.ts";
import { pause } from "../../../helpers/pause.ts";
import type { TestScheduler } from "../../../helpers/scheduler.ts";
import { openSse } from "../../../bench/sse-client.ts";
import { withScheduler } from "../../../bench/with-scheduler.ts";
import { editsOf, type Edits } from "./edits.ts";
import { probeEnv, takeSample, type Sample } from "./probed.ts";
import { edited, runners, soakProject } from "./soak-project.ts";
import { startTraffic } from "./traffic.ts";

const perSecond = 50;
const editEveryMs = 2_000;
/** The first samples are from when caches fill and code gets compiled. */
const warmUpPart = 0.25;
const statusStream = "/dashboard/api/status-stream";
const streams = [
  ...Array.from({ length: 4 }, () => statusStream),
  "/api/logs/stream",
  `/dashboard/api/logs/${runners[0] ?? ""}/stream`,
];

/** A scheduler with a hundred agents under steady traffic, edits and streams, looked at in moments of rest. */
export function runSoak(minutes: number) {
  const sampleEveryMs = Math.max(6_000, minutes * 1_200);
  const soak = async (scheduler: TestScheduler) => {
    const clients = await Promise.all(streams.map((path) => openSse(scheduler, path)));
    const edits = editsOf(scheduler.project);
    await warmUp(scheduler, edits);
    const traffic = startTraffic(scheduler.url, perSecond);
    const began = performance.now();
    const samples: Sample[] = [];
    while (performance.now() - began < minutes * 60_000) {
      traffic.resume();
      for (const until = performance.now() + sampleEveryMs; performance.now() < until;)
        await Promise.all([edits.next(), pause(editEveryMs, "edits come now and then")]);
      await traffic.pause();
      await atRest(scheduler);
      samples.push(await takeSample(scheduler));
    }
    for (const client of clients) client.close();
    const { answers } = traffic;
    return { samples: samples.slice(samples.length * warmUpPart), answers, edits: edits.count() };
  };
  return withScheduler(soakProject(), soak, probeEnv);
}

/** Has every agent that will write a line write one: its log stays open. */
async function warmUp(scheduler: TestScheduler, edits: Edits): Promise<void> {
  for (const agent of runners) {
    await scheduler.api(`/control/trigger/${agent}`, { method: "POST" });
  }
  for (let n = 0; n < edited.length + 4; n++) await edits.next();
  await atRest(scheduler);
}

/** Resolves when nothing runs or waits, and what was said of it is written. */
async function atRest({ api }: TestScheduler): Promise<void> {
  for (let tries = 0; tries < 240; tries++) {
    const { agents } = (await (await api("/control/status")).json()) as StatusSnapshot;
    if (agents.every(({ running, queued }) => running === 0 && queued === 0))
      return pause(1_500, "the last lines are written");
    await pause(250, "the runs are looked at again");
  }
  throw new Error("the runs did not end within a minute");
}
