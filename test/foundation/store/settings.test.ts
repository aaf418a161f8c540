import { expect, test } from "vitest";
import { tempDir, tempStore } from "./support.ts";

test("a new project is not paused, has no disabled agent and was never alive", () => {
  const { settings } = tempStore();
  expect(settings.paused()).toBe(false);
  expect(settings.disabledAgents()).toEqual(new Set());
  expect(settings.lastAlive()).toBeNull();
  expect(settings.lastTicks()).toEqual(new Map());
});

test("switches and cron ticks survive a restart", async () => {
  const dir = tempDir();
  const first = tempStore(dir);
  await first.settings.setPaused(true);
  for (const agent of ["dev", "ops", "dev"]) await first.settings.setDisabled(agent, true);
  await first.settings.setDisabled("ops", false);
  await first.settings.recordAlive(1_700_000_000_123);
  const schedule = { expression: "0 9 * * *", timezone: "UTC" };
  await first.settings.recordTick("dev", { at: 5, schedule: null });
  await first.settings.recordTick("dev", { at: 9, schedule });
  await first.settings.recordTick("ops", { at: 9, schedule });
  await first.settings.recordTick("ops", { at: 11, schedule: null });
  first.close();
  const { settings } = tempStore(dir);
  expect(settings.paused()).toBe(true);
  expect(settings.disabledAgents()).toEqual(new Set(["dev"]));
  expect(settings.lastAlive()).toBe(1_700_000_000_123);
  expect(settings.lastTicks()).toEqual(
    new Map([
      ["dev", { at: 9, schedule }],
      ["ops", { at: 11, schedule: null }],
    ]),
  );
  await settings.setPaused(false);
  expect(settings.paused()).toBe(false);
});
