import { tickKey } from "../../../src/foundation/store/settings.ts";
import { tempStore, reopened } from "./support.ts";
import type { HeldLock } from "../../../src/foundation/contracts/run-state.ts";

function aLock(more: Partial<HeldLock> = {}): HeldLock {
  const owner = { resource: "file:x", agent: "dev", instanceId: "dev-1" };
  return { ...owner, fencingToken: 1, heldSince: 10, expiresAt: 20, ...more };
}

test("the last fencing token is kept after its lock is removed", async () => {
  const first = tempStore();
  expect(first.locks.lastToken()).toBe(0);
  await first.locks.save(aLock({ fencingToken: 9 }));
  await first.locks.save(aLock({ fencingToken: 10, resource: "file:y" }));
  await first.locks.save(aLock({ fencingToken: 9, expiresAt: 50 }));
  await first.locks.remove(aLock({ fencingToken: 10, resource: "file:y" }));
  expect(reopened(first).locks.lastToken()).toBe(10);
});

test("a late release of an earlier holder leaves the lock of the next", async () => {
  const store = tempStore();
  await store.locks.save(aLock());
  const next = aLock({ instanceId: "ops-1", agent: "ops", fencingToken: 2 });
  await store.locks.save(next);
  await store.locks.remove(aLock());
  expect(store.locks.all()).toEqual([next]);
});

test("switches and cron ticks survive a restart", async () => {
  const first = tempStore();
  const pause = { schedules: true, work: true, since: 1_700_000_000_000 };
  await first.settings.setPause(pause);
  for (const agent of ["dev", "ops", "dev"]) await first.settings.setDisabled(agent, true);
  await first.settings.setDisabled("ops", false);
  await first.settings.recordAlive(1_700_000_000_123);
  const schedule = { expression: "0 9 * * *", timezone: "UTC" };
  await first.settings.recordTick("dev", { at: 5, schedule: null });
  await first.settings.recordTick("dev", { at: 9, schedule });
  await first.settings.recordTick("ops", { at: 9, schedule });
  await first.settings.recordTick("ops", { at: 11, schedule: null });
  await first.settings.recordTick(tickKey("dev", "nightly"), { at: 7, schedule });
  const { settings } = reopened(first);
  expect(settings.pause()).toEqual(pause);
  expect(settings.disabledAgents()).toEqual(new Set(["dev"]));
  expect(settings.lastAlive()).toBe(1_700_000_000_123);
  expect(settings.lastTicks()).toEqual(
    new Map([
      ["dev", { at: 9, schedule }],
      ["ops", { at: 11, schedule: null }],
      [tickKey("dev", "nightly"), { at: 7, schedule }],
    ]),
  );
  const none = { schedules: false, work: false, since: null };
  await settings.setPause(none);
  expect(settings.pause()).toEqual(none);
});
