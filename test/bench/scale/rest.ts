import { setTimeout as wait } from "node:timers/promises";
import type { TestScheduler } from "../../helpers/scheduler.ts";
import { figureOf } from "../figure.ts";
import type { Figure } from "../figure.ts";
import { takeSample } from "../soak/probed.ts";
import { processorMs } from "./processor.ts";

const megabyte = 1024 * 1024;
/** Less than this part of a core is rest. */
const restPart = 0.1;
const lookMs = 3_000;
const longestMs = 120_000;

/** What the start takes, and what a scheduler holds and does when nothing happens. */
export async function restFigures(
  scheduler: TestScheduler,
  readyMs: number,
  quick: boolean,
): Promise<readonly Figure[]> {
  const { pid } = scheduler;
  const readyProcessor = processorMs(pid);
  const began = performance.now();
  await settled(pid);
  const settledProcessor = processorMs(pid);
  const first = await takeSample(scheduler, began);
  const idle = await partOfCore(pid, quick ? 3_000 : 45_000);
  const { heapBytes, residentBytes, delayMs, fds, inotifyWatches } = await takeSample(
    scheduler,
    began,
  );
  return [
    { ...figureOf("ready", "ms", [readyMs]), processorMs: readyProcessor },
    figureOf("processor time until at rest", "ms", [settledProcessor]),
    figureOf("longest block of the event loop until at rest", "ms", [first.delayMs.max]),
    figureOf("heap at rest", "MB", [heapBytes / megabyte]),
    figureOf("resident at rest", "MB", [residentBytes / megabyte]),
    figureOf("open files at rest", "", [fds]),
    figureOf("watches at rest", "", [inotifyWatches]),
    figureOf("at rest, of a core", "%", [100 * idle]),
    figureOf("at rest: longest block of the event loop", "ms", [delayMs.max]),
  ];
}

/** After the start: files are watched and looked through, garbage is collected. */
async function settled(pid: number): Promise<void> {
  for (let waited = 0; waited < longestMs; waited += lookMs) {
    if ((await partOfCore(pid, lookMs)) < restPart) return;
  }
}

async function partOfCore(pid: number, ms: number): Promise<number> {
  const [before, began] = [processorMs(pid), performance.now()];
  await wait(ms);
  return (processorMs(pid) - before) / (performance.now() - began);
}
