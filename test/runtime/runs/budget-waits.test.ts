import { randomUUID } from "node:crypto";
import { BehaviorSubject } from "rxjs";
import type { RunFunds } from "../../../src/foundation/contracts/spend.ts";
import { anAgent } from "../../helpers/agents.ts";
import { createWorld, problemOf, type World } from "./world.ts";
import { instancesOf } from "./of-world.ts";

const inDay: RunFunds = { type: "short", endsAt: 1, text: "waits for money until tomorrow" };
const inMonth: RunFunds = { type: "short", endsAt: 9, text: "waits for money until December" };
const [paid, stops]: readonly [RunFunds, RunFunds] = [{ type: "paid" }, { type: "stops" }];

async function started(first: RunFunds = inDay) {
  const funds = new BehaviorSubject(first);
  const agents = [anAgent("a", { timeoutSeconds: 1 }), anAgent("b")];
  const world = createWorld({ agents, scale: 1, funds });
  await world.start();
  const run = await world.run("a");
  return { world, run, funds, options: { agents, scale: 1, funds } };
}

const texts = (world: World) =>
  world.events.flatMap((one) => (one.type === "status-text" ? [one.text] : []));
const waiting = (world: World, n = 1) =>
  expect.poll(() => world.store.waits.allForMoney()).toHaveLength(n);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const outcome = (world: World, instanceId: string) =>
  world.history().find((entry) => entry.instanceId === instanceId)?.outcome;

test("a run that waits for budget releases its slot, and gets one again before it continues", async () => {
  const { world, run, funds } = await started();
  const asked = world.ask(run, "budget-wait", {});
  await waiting(world);
  const other = await world.run("b");
  expect(texts(world)).toEqual([inDay.text]);
  let isPaid = false;
  void asked.then(() => (isPaid = true));
  funds.next(paid);
  await pause(30);
  expect(isPaid).toBe(false);
  world.end(other);
  expect(await asked).toEqual({ ok: true, paid: true });
  expect(texts(world)).toEqual([inDay.text, ""]);
  const needs = world.events.map((one) => one.type === "status-text" && one.needsMoney === true);
  expect([needs.filter(Boolean).length, needs.at(-1)]).toEqual([1, false]);
  await waiting(world, 0);
});

test("a run that waits for budget does not time out meanwhile", async () => {
  const { world, run, funds } = await started();
  const asked = world.ask(run, "budget-wait", {});
  await pause(1_300);
  expect(world.isLive(run)).toBe(true);
  funds.next(paid);
  await asked;
  await expect.poll(() => outcome(world, run)).toBe("timed_out");
});

test("a run that waits for budget is frozen until it continues", async () => {
  const { world, run, funds } = await started();
  const asked = world.ask(run, "budget-wait", {});
  await expect.poll(() => world.frozen).toEqual([`freeze ${run}`]);
  funds.next(paid);
  await asked;
  expect(world.frozen).toEqual([`freeze ${run}`, `thaw ${run}`]);
});

test("a run that waits for budget shows its current limit, even if that changes", async () => {
  const { world, run, funds } = await started();
  const asked = world.ask(run, "budget-wait", {});
  funds.next(inMonth);
  expect(texts(world)).toEqual([inDay.text, inMonth.text]);
  const warnings = world.events.filter(({ type }) => type === "output");
  expect(warnings).toMatchObject([{ entry: { level: 40, msg: inDay.text } }]);
  funds.next(paid);
  expect(await asked).toMatchObject({ paid: true });
});

test("a run that waits for budget is rejected as unpaid when its agent now stops at its limits", async () => {
  const { world, run, funds } = await started();
  await world.refuseCall(run, "all is spent");
  const asked = world.ask(run, "budget-wait", {});
  await waiting(world);
  funds.next(stops);
  expect(await asked).toEqual({ ok: true, paid: false });
  world.end(run, { exitCode: 1, error: "403" });
  await expect.poll(() => outcome(world, run)).toBe("over_budget");
});

test("a run that waits for budget is not over budget when it is ended, or fails after it was paid", async () => {
  const { world, run, funds } = await started();
  await world.refuseCall(run, "all is spent");
  const asked = world.ask(run, "budget-wait", {});
  const over = problemOf(asked);
  await waiting(world);
  world.end(run, { exitCode: 1, error: "ended" });
  await expect.poll(() => outcome(world, run)).toBe("failed");
  expect(await over).toMatchObject({ error: "unauthorized" });
  await waiting(world, 0);
  expect(funds.observed).toBe(false);
  const second = await world.run("a");
  await world.refuseCall(second, "all is spent");
  const again = world.ask(second, "budget-wait", {});
  await waiting(world);
  funds.next(paid);
  await again;
  world.end(second, { exitCode: 1, error: "broken" });
  await expect.poll(() => outcome(world, second)).toBe("failed");
  expect(world.store.spend.refusal(second)).toBeNull();
});

test("no longer waits once it cancels its request", async () => {
  const { world, run, funds } = await started();
  const key = randomUUID();
  const asked = world.ask(run, "budget-wait", {}, { key }).catch(() => "cancelled");
  await waiting(world);
  await world.ask(run, "cancel", {}, { key });
  expect(await asked).toBe("cancelled");
  await waiting(world, 0);
  expect(funds.observed).toBe(false);
});

test.each([
  [paid, true],
  [stops, false],
] as const)("a run that has no reason to wait is answered at once: %j", async (first, isPaid) => {
  const { world, run } = await started(first);
  expect(await world.ask(run, "budget-wait", {})).toEqual({ ok: true, paid: isPaid });
  expect(texts(world)).toEqual([]);
  expect(world.events.filter(({ type }) => type === "output")).toEqual([]);
});

describe("after a restart", () => {
  test("an adopted run still waits when it repeats its request, with its clock paused, and continues", async () => {
    const { world, run, funds, options } = await started();
    const key = randomUUID();
    void world.ask(run, "budget-wait", {}, { key }).catch(() => undefined);
    await waiting(world);
    world.crash();
    await pause(1_300);
    const later = createWorld(options, world.dir, [run]);
    await later.start();
    expect(later.isLive(run)).toBe(true);
    expect(texts(later)).toEqual([inDay.text]);
    expect(await later.run("b")).toBe(instancesOf(later, "b")[0]);
    const asked = later.ask(run, "budget-wait", {}, { key });
    await pause(100);
    expect(later.frozen).toEqual([`freeze ${run}`]);
    for (const other of instancesOf(later, "b")) later.end(other);
    funds.next(paid);
    expect(await asked).toEqual({ ok: true, paid: true });
    expect(later.isLive(run)).toBe(true);
    await waiting(later, 0);
  });

  test("a run that was paid before it repeats its request is answered then", async () => {
    const { world, run, funds, options } = await started();
    const key = randomUUID();
    void world.ask(run, "budget-wait", {}, { key }).catch(() => undefined);
    await waiting(world);
    world.crash();
    funds.next(paid);
    const later = createWorld(options, world.dir, [run]);
    await later.start();
    expect(await later.ask(run, "budget-wait", {}, { key })).toEqual({ ok: true, paid: true });
    expect(texts(later)).toEqual([]);
  });
});
