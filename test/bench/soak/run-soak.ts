import { setTimeout as wait } from "node:timers/promises";
import type { StatusSnapshot } from "../../../streams/status/wire.ts";
import { startTestScheduler, type TestScheduler } from "../../helpers/scheduler.ts";
import { openSse } from "../sse-client.ts";
import { editsOf, type Edits } from "./edits.ts";
import { probeEnv, takeSample } from "./probed.ts";
import type { Sample } from "./reading.ts";
import { edited, runners, soakProject } from "./soak-project.ts";
import { startTraffic, type Traffic } from "./traffic.ts";

export interface SoakOptions {
  readonly minutes: number;
  /** Seconds between samples. */
  readonly sampleEvery: number;
  readonly onSample?: (sample: Sample) => void;
}

export interface Soaked {
  /** Without those of the warm-up. */
  readonly samples: readonly Sample[];
  readonly answers: Traffic["answers"];
  readonly edits: number;
}

const perSecond = 50;
const editEveryMs = 2_000;
/** The first samples are from when caches fill and code gets compiled. */
const warmUpPart = 0.25;
const streams = [
  ...Array.from({ length: 4 }, () => "/dashboard/api/status-stream"),
  "/api/logs/stream",
  `/dashboard/api/logs/${runners[0] ?? ""}/stream`,
];

/** A scheduler with a hundred agents under steady traffic, edits and streams, looked at in moments of rest. */
export async function runSoak(options: SoakOptions): Promise<Soaked> {
  const project = await soakProject();
  try {
    const scheduler = await startTestScheduler(project, {
      args: ["--headless"],
      env: probeEnv(project),
    });
    try {
      return await soak(scheduler, options);
    } finally {
      await scheduler.stop();
    }
  } finally {
    await project.remove();
  }
}

async function soak(scheduler: TestScheduler, options: SoakOptions): Promise<Soaked> {
  const clients = await Promise.all(streams.map((path) => openSse(scheduler, path)));
  const edits = editsOf(scheduler.project);
  await warmUp(scheduler, edits);
  const traffic = startTraffic(scheduler.url, perSecond);
  const began = performance.now();
  const samples: Sample[] = [];
  while (performance.now() - began < options.minutes * 60_000) {
    traffic.resume();
    const until = performance.now() + options.sampleEvery * 1_000;
    while (performance.now() < until) {
      await Promise.all([edits.next(), wait(editEveryMs)]);
    }
    await traffic.pause();
    await atRest(scheduler);
    const sample = await takeSample(scheduler, began);
    samples.push(sample);
    options.onSample?.(sample);
  }
  for (const client of clients) client.close();
  const { answers } = traffic;
  return { samples: samples.slice(samples.length * warmUpPart), answers, edits: edits.count() };
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
async function atRest(scheduler: TestScheduler): Promise<void> {
  for (let tries = 0; tries < 240; tries++) {
    const answer = await scheduler.api("/control/status");
    const { agents } = (await answer.json()) as StatusSnapshot;
    if (agents.every(({ running, queued }) => running === 0 && queued === 0)) return wait(1_500);
    await wait(250);
  }
  throw new Error("the runs did not end within a minute");
}
