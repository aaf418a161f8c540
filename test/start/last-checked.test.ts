import { expect, test } from "vitest";
import { lastCheckedIn } from "../../src/start/build-graph.ts";
import type { LastTick } from "../../src/foundation/store/settings.ts";

const schedule = { expression: "0 9 * * *", timezone: "UTC" };

function lastChecked(lastAlive: number | null, tick: LastTick | null) {
  const ticks = new Map(tick === null ? [] : [["dev", tick]]);
  return lastCheckedIn({ lastAlive: () => lastAlive, lastTicks: () => ticks })("dev");
}

test("a schedule was looked after until the last tick, or as long as the scheduler lived after it", () => {
  expect(lastChecked(9, { at: 5, schedule })).toEqual({ at: 9, schedule });
  expect(lastChecked(3, { at: 5, schedule })).toEqual({ at: 5, schedule });
  expect(lastChecked(null, { at: 5, schedule })).toEqual({ at: 5, schedule });
});

test("nothing can have been missed of an agent that was new or had no schedule", () => {
  expect(lastChecked(9, null)).toBeUndefined();
  expect(lastChecked(9, { at: 5, schedule: null })).toBeUndefined();
});
