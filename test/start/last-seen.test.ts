import { expect, test } from "vitest";
import { lastSeenIn } from "../../src/start/build-graph.ts";
import type { LastTick } from "../../src/store/settings.ts";

const schedule = { expression: "0 9 * * *", timezone: "UTC" };

function lastSeen(lastAlive: number | null, tick: LastTick | null) {
  const ticks = new Map(tick === null ? [] : [["dev", tick]]);
  return lastSeenIn({ lastAlive: () => lastAlive, lastTicks: () => ticks })("dev");
}

test("a schedule was looked after until the last tick, or as long as the scheduler lived after it", () => {
  expect(lastSeen(9, { at: 5, schedule })).toEqual({ at: 9, schedule });
  expect(lastSeen(3, { at: 5, schedule })).toEqual({ at: 5, schedule });
  expect(lastSeen(null, { at: 5, schedule })).toEqual({ at: 5, schedule });
});

test("nothing can have been missed of an agent that was new or had no schedule", () => {
  expect(lastSeen(9, null)).toBeUndefined();
  expect(lastSeen(9, { at: 5, schedule: null })).toBeUndefined();
});
