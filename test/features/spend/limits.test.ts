import { tempStore, reopened } from "../../foundation/store/support.ts";
import { budgets, noon } from "./rules/support.ts";
import { tempMeter } from "./support.ts";

test("budget limits are reported with the spent and reserved amounts", async () => {
  const budgetsOf = (agent: string | null) =>
    budgets({ dayUsd: agent === "dev" ? 1 : null }, { monthUsd: 9 });
  const { meter, begin, charge } = tempMeter({ budgetsOf });
  await charge(5_000);
  await begin();
  const amounts = { usd: 0.005, reserved: 0.01, limit: null };
  const day = { window: "2026-11-22", endsAt: Date.parse("2026-11-23"), ...amounts };
  const month = { window: "2026-11", endsAt: Date.parse("2026-12-01"), ...amounts };
  expect(meter.limits(["dev", "ops"])).toEqual([
    { ...day, scope: "project" },
    { ...month, scope: "project", limit: 9 },
    { ...day, scope: "agent:dev", limit: 1 },
    { ...month, scope: "agent:dev" },
    { ...day, scope: "agent:ops", usd: 0, reserved: 0 },
    { ...month, scope: "agent:ops", usd: 0, reserved: 0 },
  ]);
});

test("an agent's budget is used up after a refused model call until the day ends or the limit is raised", async () => {
  let time = noon;
  const budgetsOf = () => budgets({ dayUsd: 0.01 });
  const { meter, begin, charge, refusal } = tempMeter({ budgetsOf, now: () => time });
  await charge(9_500);
  expect(meter.exhausted("dev")).toBeNull();
  expect((await refusal()).detail).toContain("the budget of agent dev for 2026-11-22");
  expect(meter.exhausted("dev")).toMatchObject({ scope: "agent:dev", window: "2026-11-22" });
  expect(meter.exhausted("ops")).toBeNull();
  await meter.raise("agent:dev", 0.01);
  expect(meter.exhausted("dev")).toBeNull();
  expect((await begin()).maxOutputTokens).toBeNull();
  time += 86_400_000;
  expect(meter.exhausted("dev")).toBeNull();
});

test("exhausted returns the limit of a run whose model call was refused, and null once the limit is raised", async () => {
  const { meter, begin, refusal } = tempMeter({ budgetsOf: () => budgets({ runUsd: 0.001 }) });
  const raised: string[] = [];
  meter.raised$.subscribe((scope) => raised.push(scope));
  await refusal();
  const limit = { scope: "run:dev-1", window: "run", endsAt: null, limit: 0.001 };
  expect(meter.exhausted("dev", "dev-1")).toMatchObject(limit);
  expect([meter.exhausted("dev"), meter.exhausted("dev", "dev-2")]).toEqual([null, null]);
  await meter.raise("run:dev-1", 1);
  expect([raised, meter.exhausted("dev", "dev-1")]).toEqual([["run:dev-1"], null]);
  await begin();
});

test("a raised budget limit survives a restart and applies to live runs", async () => {
  const budgetsOf = () => budgets({ runUsd: 0, dayUsd: 0 });
  const liveRuns = () => ["dev-1"];
  const first = tempStore();
  const before = tempMeter({ budgetsOf, liveRuns }, first);
  expect((await before.refusal()).code).toBe("budget_exceeded");
  await before.meter.raise("agent:dev", 1);
  expect((await before.refusal({ instanceId: "dev-2" })).detail).toContain("this run's budget");
  const { begin } = tempMeter({ budgetsOf, liveRuns }, reopened(first));
  expect((await begin()).maxOutputTokens).toBeNull();
});
