import { missingAgents, lastCheckedIn } from "../../src/start/build-graph.ts";
import { anItem } from "../helpers/agents.ts";
import type { LastTick } from "../../src/foundation/store/settings.ts";

test("agents with waiting work whose directory is missing start as removed, each once", () => {
  const waiting = [anItem("1", "gone"), anItem("2", "here"), anItem("3", "gone")];
  expect(missingAgents(waiting, new Map([["here", {}]]))).toEqual([
    { type: "removed", name: "gone" },
  ]);
  expect(missingAgents([], new Map())).toEqual([]);
});

const schedule = { expression: "0 9 * * *", timezone: "UTC" };

function lastChecked(lastAlive: number | null, tick: LastTick | null) {
  const ticks = new Map(tick === null ? [] : [["dev", tick]]);
  return lastCheckedIn({ lastAlive: () => lastAlive, lastTicks: () => ticks })("dev", "");
}

test("a schedule counts as last checked at its last tick, or when the scheduler was last alive", () => {
  expect(lastChecked(9, { at: 5, schedule })).toEqual({ at: 9, schedule });
  expect(lastChecked(3, { at: 5, schedule })).toEqual({ at: 5, schedule });
  expect(lastChecked(null, { at: 5, schedule })).toEqual({ at: 5, schedule });
});

test("an agent that was new or had no schedule has missed no ticks", () => {
  expect(lastChecked(9, null)).toBeUndefined();
  expect(lastChecked(9, { at: 5, schedule: null })).toBeUndefined();
});
