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
  await first.settings.recordTick("dev", 5);
  await first.settings.recordTick("dev", 9);
  first.close();
  const { settings } = tempStore(dir);
  expect(settings.paused()).toBe(true);
  expect(settings.disabledAgents()).toEqual(new Set(["dev"]));
  expect(settings.lastAlive()).toBe(1_700_000_000_123);
  expect(settings.lastTicks()).toEqual(new Map([["dev", 9]]));
  await settings.setPaused(false);
  expect(settings.paused()).toBe(false);
});
