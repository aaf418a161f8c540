import type { RunFunds } from "../../../src/features/spend/run-funds.ts";
import { createSpend } from "../../../src/features/spend/spend-store.ts";
import { randomUUID } from "node:crypto";
import { BehaviorSubject } from "rxjs";
import { anAgent } from "../../helpers/agents.ts";
import { pause } from "../../helpers/pause.ts";
import type { World } from "./world.ts";
import {
  entryOf,
  expectRefusal,
  expectThawed,
  expectWaiting,
  logged,
  restarted,
  startedWorld,
  statusTexts,
  untilFrozen,
} from "./of-world.ts";

const inDay: RunFunds = { type: "short", endsAt: 1, text: "waits for money until tomorrow" };
const inMonth: RunFunds = { type: "short", endsAt: 9, text: "waits for money until December" };
const [paid, stops]: readonly [RunFunds, RunFunds] = [{ type: "paid" }, { type: "stops" }];

async function started(first: RunFunds = inDay) {
  const funds = new BehaviorSubject(first);
  const agents = [anAgent("a", { timeoutSeconds: 1.5 }), anAgent("b")];
  return { funds, ...(await startedWorld({ agents, scale: 1, funds })) };
}

const waiting = (world: World, n = 1) =>
  expect.poll(() => world.store.waits.allForMoney()).toHaveLength(n);
/** A run that waits since `why` it was refused a call. */
async function short(why?: string) {
  const all = await started();
  const { world, run } = all;
  if (why !== undefined) await world.refuseCall(run, why);
  const key = randomUUID();
  const asked = world.ask(run, "budget-wait", {}, { key });
  await waiting(world);
  return { ...all, key, asked };
}

const outcome = (world: World, run: string) => entryOf(world, run)?.outcome;

describe("a run that waits for budget", () => {
  test("releases its slot, and gets a slot again before it continues", async () => {
    const { world, run, funds, asked } = await short();
    const other = await world.run("b");
    expect(statusTexts(world)).toEqual([inDay.text]);
    funds.next(paid);
    await expectWaiting(asked);
    world.end(other);
    expect(await asked).toEqual({ ok: true, paid: true });
    expectThawed(world, run);
    expect(statusTexts(world)).toEqual([inDay.text, ""]);
    const needs = world.events.map((one) => one.type === "status-text" && one.needsMoney === true);
    expect([needs.filter(Boolean).length, needs.at(-1)]).toEqual([1, false]);
    await waiting(world, 0);
  });

  test("shows the limit that it waits for, even if that changes", async () => {
    const { world, funds } = await short();
    funds.next(inMonth);
    expect(statusTexts(world)).toEqual([inDay.text, inMonth.text]);
    expect(logged(world)).toMatchObject([{ level: 40, msg: inDay.text }]);
  });

  test("gets paid: false if its agent's onLimit becomes stop", async () => {
    const { world, run, funds, asked } = await short("all is spent");
    funds.next(stops);
    expect(await asked).toEqual({ ok: true, paid: false });
    world.end(run, { exitCode: 1, error: "403" });
    await expect.poll(() => outcome(world, run)).toBe("over_budget");
  });

  test("does not end as over_budget when it fails while it waits", async () => {
    const { world, run, funds, asked } = await short("all is spent");
    world.end(run, { exitCode: 1, error: "ended" });
    await expect.poll(() => outcome(world, run)).toBe("failed");
    await expectRefusal(asked, "unauthorized");
    await waiting(world, 0);
    expect(funds.observed).toBe(false);
  });

  test("does not end as over_budget when it fails after it got budget", async () => {
    const { world, run, funds, asked } = await short("all is spent");
    funds.next(paid);
    await asked;
    world.end(run, { exitCode: 1, error: "broken" });
    await expect.poll(() => outcome(world, run)).toBe("failed");
    expect(world.store.tables(createSpend).refusal(run)).toBeNull();
  });

  test("stops waiting once it cancels its request", async () => {
    const { world, run, funds, key, asked } = await short();
    await world.ask(run, "cancel", {}, { key });
    await expect(asked).rejects.toThrow("no longer waits");
    await waiting(world, 0);
    expect(funds.observed).toBe(false);
  });
});

test.each([
  ["has budget", paid, true],
  ["has onLimit = stop", stops, false],
] as const)("a run's wait for budget ends at once if the agent %s", async (_why, first, isPaid) => {
  const { world, run } = await started(first);
  expect(await world.ask(run, "budget-wait", {})).toEqual({ ok: true, paid: isPaid });
  expect([...statusTexts(world), ...logged(world)]).toEqual([]);
});

describe("after a restart", () => {
  test("an adopted run that repeats its wait for budget still waits, with its timeout paused", async () => {
    const { world, run, key, funds } = await short();
    world.crash();
    await pause(1_800, "longer than the run has");
    const later = await restarted(world, [run]);
    expect(later.isLive(run)).toBe(true);
    expect(statusTexts(later)).toEqual([inDay.text]);
    const other = await later.run("b");
    const asked = later.ask(run, "budget-wait", {}, { key });
    await untilFrozen(later, run);
    later.end(other);
    funds.next(paid);
    expect(await asked).toEqual({ ok: true, paid: true });
    expect(later.isLive(run)).toBe(true);
    await waiting(later, 0);
  });
});
