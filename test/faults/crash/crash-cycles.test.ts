import { expect, it } from "vitest";
import { crashLane } from "./crash-lane.ts";
import { points } from "./crash-plan.ts";

/**
 * Every cycle is a whole life of the real, built program: it starts on a project that an earlier one left, accepts
 * deliveries, runs real agent processes, and is ended by SIGKILL at a named point (`kill-points.ts`) or a moment; then
 * what it left is held against all that was ever promised. No part of it is smaller than that: a start is 0.6 s of one
 * core, and two chains keep two cores busy.
 *
 * `AL_CRASH_CYCLES` makes it longer; `AL_CRASH_POINTS=start` has all kills strike while runs start. `AL_CRASH_SEED` is that of a failure: the same points, numbers and orders again,
 * with `AL_CRASH_CYCLES` to stop where it failed; how processes interleave is the machine's.
 */
const cycles = Number(process.env.AL_CRASH_CYCLES ?? 300);
const seed = Number(process.env.AL_CRASH_SEED ?? Date.now() % 1_000_000);
const lanes = 2;

it(
  `keeps every promise over ${cycles} crashes`,
  { timeout: 60_000 + cycles * 4_000, retry: 0 },
  async () => {
    process.stdout.write(`AL_CRASH_SEED=${seed}\n`);
    const each = Math.ceil(cycles / lanes);
    const began = performance.now();
    const stop = new AbortController();
    const results = await Promise.all(
      Array.from({ length: lanes }, (_, lane) => crashLane(seed + lane, each, stop)),
    );
    const seconds = ((performance.now() - began) / 1000).toFixed(0);
    const struck = sum(results.map((result) => result.struck));
    const outcomes = sum(results.map((result) => result.outcomes));
    const told = { struck: Object.fromEntries(struck), outcomes: Object.fromEntries(outcomes) };
    process.stdout.write(`${each * lanes} crashes in ${seconds} s: ${JSON.stringify(told)}\n`);
    // Otherwise it would prove nothing about that point.
    if (cycles < 100) return;
    expect(points.filter((point) => !struck.has(point))).toEqual([]);
    expect(outcomes.get("succeeded")).toBeGreaterThan(cycles / 10);
  },
);

function sum(maps: readonly ReadonlyMap<string, number>[]): Map<string, number> {
  const total = new Map<string, number>();
  for (const [key, n] of maps.flatMap((map) => [...map])) total.set(key, (total.get(key) ?? 0) + n);
  return total;
}
