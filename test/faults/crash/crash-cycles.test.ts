import { isLong } from "../../helpers/long.ts";
import { crashLane } from "./crash-lane.ts";
import { points } from "./crash-plan.ts";

/**
 * Every cycle is a whole life of the real, built program: it starts on a project that an earlier one left, accepts
 * deliveries, runs real agent processes, and is ended by SIGKILL at a named point (`kill-points.ts`) or a moment; then
 * the rest is compared with every promise made so far. Two chains keep two cores busy. The ordinary tests crash once at
 * each point (`crash-points.test.ts`).
 *
 * `AL_CRASH_CYCLES` sets their number; with `AL_CRASH_POINTS=start` all kills strike while runs start. `AL_CRASH_SEED`
 * repeats the points, numbers and orders of a failure; the machine decides how processes interleave.
 */
const cycles = Number(process.env.AL_CRASH_CYCLES ?? 1_000);
const isAsked = isLong || process.env.AL_CRASH_CYCLES !== undefined;
const seed = Number(process.env.AL_CRASH_SEED ?? Date.now() % 1_000_000);
const lanes = 2;

const timeout = 60_000 + cycles * 4_000;
test.runIf(isAsked)(
  `a scheduler loses nothing that it acknowledged over ${cycles} crashes`,
  { timeout },
  async () => {
    process.stdout.write(`AL_CRASH_SEED=${seed}\n`);
    const each = Math.ceil(cycles / lanes);
    const stop = new AbortController();
    const results = await Promise.all(
      Array.from({ length: lanes }, (_, lane) => crashLane(seed + lane, each, stop)),
    );
    process.stdout.write(`${each * lanes} crashes: ${JSON.stringify(results)}\n`);
    // Otherwise it would prove nothing about that point.
    if (cycles < 100) return;
    expect(points.filter((point) => results.every(({ struck }) => !(point in struck)))).toEqual([]);
    const succeeded = results.map(({ outcomes }) => outcomes.succeeded ?? 0);
    expect(succeeded.reduce((sum, n) => sum + n, 0)).toBeGreaterThan(cycles / 10);
  },
);
