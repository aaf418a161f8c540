import { appendFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { pause } from "../../../helpers/pause.ts";
import type { ProbeReading } from "./probed.ts";

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

/** What V8 compiled. It goes on to compile what becomes hot for hours, and drops what does not stay so. */
const codeBytes = () =>
  getHeapSpaceStatistics()
    .filter(({ space_name }) => /code|trusted/.test(space_name))
    .reduce((sum, { space_used_size }) => sum + space_used_size, 0);

function read(): void {
  const lateMs = Math.max(0, delays.percentile(50) / 1e6 - resolution);
  collectGarbage();
  // What the first collection finished off is freed by the second.
  collectGarbage();
  const resources: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1;
  const heapBytes = process.memoryUsage().heapUsed - codeBytes();
  const reading: ProbeReading = { heapBytes, lateMs, resources };
  appendFileSync(file, `${JSON.stringify(reading)}\n`);
  void pause(100, "the collections above are this probe's own delay").then(() => delays.reset());
}

process.on("SIGUSR2", read);
