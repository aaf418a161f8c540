import { appendFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { pause } from "../../helpers/pause.ts";
import type { ProbeReading } from "./reading.ts";

/**
 * Loaded into a scheduler from outside (`NODE_OPTIONS=--import`), so that what is measured is the program as it is
 * shipped: at each SIGUSR2 it collects garbage and appends a reading to the file that AL_PROBE names.
 */
const file = process.env.AL_PROBE ?? "";
// What the scheduler starts is not measured.
delete process.env.NODE_OPTIONS;
delete process.env.AL_PROBE;

/** The histogram measures how late a timer of so many ms is, and counts those ms as delay. */
const resolution = 10;
const delays = monitorEventLoopDelay({ resolution });
delays.enable();

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const delayAt = (percent: number): number =>
  Math.max(0, delays.percentile(percent) / 1e6 - resolution);

function resources(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** What V8 compiled. It goes on to compile what becomes hot for hours, and drops what does not stay so. */
function codeBytes(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name }) => /code|trusted/.test(space_name))
    .reduce((sum, { space_used_size }) => sum + space_used_size, 0);
}

function read(): void {
  const delayMs = { p50: delayAt(50), p99: delayAt(99), max: delayAt(100) };
  collectGarbage();
  // What the first collection finished off is freed by the second.
  collectGarbage();
  const { heapUsed, external, rss } = process.memoryUsage();
  const compiled = codeBytes();
  const { user, system } = process.cpuUsage();
  const reading: ProbeReading = {
    heapBytes: heapUsed - compiled,
    codeBytes: compiled,
    externalBytes: external,
    residentBytes: rss,
    cpuMs: (user + system) / 1000,
    delayMs,
    resources: resources(),
  };
  appendFileSync(file, `${JSON.stringify(reading)}\n`);
  void pause(100, "the collections above are this probe's own delay").then(() => delays.reset());
}

process.on("SIGUSR2", read);
