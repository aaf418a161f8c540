import type { RunSpend } from "../../../src/features/spend/budget-states.ts";
import { createSpend, type SpendStore } from "../../../src/features/spend/spend-store.ts";
import type { CallPlan } from "../../../src/foundation/contracts/model-gateway.ts";
import type { BudgetWarning } from "../../../src/foundation/contracts/spend.ts";
import { tempStore, reopened } from "../../foundation/store/support.ts";
import { budgets } from "./rules/support.ts";
import { answered, noSignal, plan, tempMeter, terms } from "./support.ts";

afterEach(() => vi.useRealTimers());

/** What the run's open calls reserved. */
const reserved = (report: SpendStore) =>
  report.accounts(["run"]).find(({ scope }) => scope === "run:dev-1")?.reserved;

test("a model call is stored with its highest possible cost when it begins, and with its real cost when it ends", async () => {
  const { store, begin } = tempMeter();
  const spendReport = store.tables(createSpend);
  const grant = await begin();
  expect(grant.maxOutputTokens).toBeNull();
  expect(spendReport.run("dev-1")).toMatchObject({ nano: 0, calls: 1, tokens: 0 });
  expect(reserved(spendReport)).toBe(10_000_000);
  grant.settle(answered(2_000));
  grant.settle(answered(9_000));
  await expect.poll(() => spendReport.run("dev-1").nano).toBe(2_000_000);
  expect(spendReport.accounts(["2026-11-22", "2026-11", "run"])).toHaveLength(5);
  expect(reserved(spendReport)).toBe(0);
});

test("the spending of a run is emitted after each model call, and a budget warning once", async () => {
  const own = budgets({ runUsd: 0.1, warnAt: [50, 80] });
  const { meter, charge, spent } = tempMeter({ budgetsOf: () => own });
  const emitted: RunSpend[] = [];
  const warned: BudgetWarning[] = [];
  meter.spent$.subscribe((one) => emitted.push(one));
  meter.warning$.subscribe((one) => warned.push(one));
  for (const maxOutputTokens of [6_000, 50_000, 1_000])
    await charge(maxOutputTokens, {}, { maxOutputTokens });
  const run = { instanceId: "dev-1", agent: "dev" };
  expect(emitted.slice(0, 3)).toEqual([
    { ...run, usd: 0, reservedUsd: 0.006, turns: 1, tokens: 0 },
    { ...run, usd: 0.006, reservedUsd: 0, turns: 1, tokens: 6_000 },
    { ...run, usd: 0.006, reservedUsd: 0.05, turns: 2, tokens: 6_000 },
  ]);
  expect(warned).toEqual([
    { scope: "run:dev-1", window: "run", percent: 50, usd: 0.056, limitUsd: 0.1 },
  ]);
  expect(spent()).toEqual({ ...run, usd: 0.057, reservedUsd: 0, turns: 3, tokens: 57_000 });
});

test("a restarted scheduler knows the spent amount and repeats no budget warning", async () => {
  const own = () => budgets({ dayUsd: 0.01, warnAt: [50] });
  const first = tempStore();
  await tempMeter({ budgetsOf: own }, first).charge(6_000);
  const { meter, begin } = tempMeter({ budgetsOf: own }, reopened(first));
  const warned: BudgetWarning[] = [];
  meter.warning$.subscribe((one) => warned.push(one));
  const grant = await begin();
  expect(grant.maxOutputTokens).toBe(4_000);
  grant.settle(answered(1_000));
  expect(warned).toEqual([]);
});

test("a model call without a response costs nothing and does not count as a turn", async () => {
  const { charge, spent } = tempMeter({ budgetsOf: () => budgets({ turns: 1 }) });
  for (const status of [null, 429, 500]) await charge(0, { status, usage: null });
  expect(spent()).toMatchObject({ usd: 0, turns: 0 });
});

test("a model call beyond the run's maximum of turns is refused", async () => {
  const { charge, refusal } = tempMeter({ budgetsOf: () => budgets({ turns: 1 }) });
  await charge(1);
  expect(await refusal()).toEqual({
    granted: false,
    code: "too_many_turns",
    detail: "this run has used the 1 model answers that its budget allows (turns = 1)",
  });
});

test("a model call on a subscription is stored with its price, and not charged to budgets", async () => {
  const termsOf = () => Promise.resolve({ ...terms, billing: "subscription" as const });
  const budgetsOf = () => budgets({ runUsd: 0 });
  const { store, charge, spent } = tempMeter({ termsOf, budgetsOf });
  await charge(3_000);
  const stored = { nano: 0, subscriptionNano: 3_000_000, tokens: 3_000 };
  await expect.poll(() => store.tables(createSpend).run("dev-1")).toMatchObject(stored);
  expect(spent()).toMatchObject({ usd: 0, turns: 1 });
});

test("a model call that may use a more expensive service tier reserves, and is charged, the tier's price", async () => {
  const termsOf = () => Promise.resolve({ ...terms, provider: "openai" as const });
  const { store, begin } = tempMeter({ termsOf });
  const grant = await begin({ serviceTier: "auto" });
  expect(reserved(store.tables(createSpend))).toBe(20_000_000);
  grant.settle(answered(1_000, { serviceTier: "priority" }));
  await expect.poll(() => store.tables(createSpend).run("dev-1").nano).toBe(2_000_000);
});

test("a model call that reports invalid token counts is charged, and its reserved amount is released", async () => {
  const { charge, spent } = tempMeter();
  const usage = { input: -5, cacheRead: NaN, cacheWrite: 0, cacheWrite1h: 7, output: 0.5 };
  await charge(0, { usage });
  expect(spent()).toMatchObject({ usd: 0.000001, reservedUsd: 0 });
});

test("a thousand model calls with 1e300 tokens each leave readable sums", async () => {
  const price = { input: 100_000, output: 100_000, cacheRead: 0, cacheWrite: 0 };
  const dear = { termsOf: () => Promise.resolve({ ...terms, price }) };
  const { store, charge } = tempMeter(dear);
  const calls = 1_000;
  const usage = { input: 1e300, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 1e300 };
  for (let n = 0; n < calls; n++) await charge(0, { usage }, { instanceId: `dev-${n}` });
  const reported = () =>
    store.tables(createSpend).rows({ by: "agent", since: 0, agent: null })[0]?.nano;
  await expect.poll(reported).toBe(calls * 1e13);
  const { meter } = tempMeter(dear, store);
  const month = meter.limits(["dev"]).find(({ window }) => window === "2026-11");
  expect(month?.usd).toBe(calls * 10_000);
});

test("a model call that is canceled while it is being stored does not count", async () => {
  const { meter, spent } = tempMeter();
  const client = new AbortController();
  const begun = meter.begin(plan, client.signal);
  setImmediate(() => client.abort(new Error("gone")));
  await expect(begun).rejects.toThrow("gone");
  expect(spent()).toMatchObject({ reservedUsd: 0, turns: 0 });
});

test("a model call that can't be stored is not granted, and its reserved amount is released", async () => {
  const store = tempStore();
  const failing = {
    ...store.tables(createSpend),
    reserve: () => Promise.reject(new Error("disk full")),
  };
  const { begin, spent } = tempMeter({ store: failing }, store);
  await expect(begin()).rejects.toThrow("disk full");
  expect(spent()).toMatchObject({ usd: 0, reservedUsd: 0, turns: 0 });
});

const budgetsOf = () => budgets({}, { dayUsd: 0.01 });

test("model calls that wait for reserved money are granted in order of arrival", async () => {
  const { begin } = tempMeter({ budgetsOf });
  const first = await begin();
  const order: string[] = [];
  const waiting = ["dev-2", "dev-3"].map(async (instanceId) => {
    const grant = await begin({ instanceId });
    order.push(instanceId);
    grant.settle(answered(3_000));
    return grant.maxOutputTokens;
  });
  first.settle(answered(2_000));
  expect(await Promise.all(waiting)).toEqual([8_000, 5_000]);
  expect(order).toEqual(["dev-2", "dev-3"]);
});

test("model calls that wait for reserved money are refused if that money is spent", async () => {
  const { begin, refusal } = tempMeter({ budgetsOf });
  const first = await begin();
  const waiting = [refusal(), refusal()];
  first.settle(answered(10_000));
  for (const { code } of await Promise.all(waiting)) expect(code).toBe("budget_exceeded");
});

test("a model call waits for reserved money until its client disconnects, at most two minutes", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { meter, begin, refusal } = tempMeter({ budgetsOf });
  await begin();
  const client = new AbortController();
  const impatient = meter.begin(plan, client.signal);
  const patient = refusal();
  await new Promise((resolve) => setImmediate(resolve));
  client.abort(new Error("gone"));
  await expect(impatient).rejects.toThrow("gone");
  await vi.advanceTimersByTimeAsync(120_000);
  expect((await patient).detail).toContain("$0.01 reserved by open calls");
});

test("model calls that wait for reserved money are granted when the limit is raised", async () => {
  const { meter, begin } = tempMeter({ budgetsOf });
  await begin();
  const waiting = begin();
  await new Promise((resolve) => setImmediate(resolve));
  await meter.raise("project", 0.004);
  expect((await waiting).maxOutputTokens).toBe(2_000);
});

test("model calls beyond a model's requests per minute wait, or are rejected if the wait would be long", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  const termsOf = () => Promise.resolve({ ...terms, requestsPerMinute: 2 });
  const waits: string[] = [];
  const onWait = ({ instanceId }: CallPlan, text: string) => waits.push(`${instanceId}: ${text}`);
  const { meter } = tempMeter({ termsOf, onWait });
  const done: number[] = [];
  const calls = Array.from({ length: 14 }, async (_, n) => {
    const begun = await meter.begin(plan, noSignal);
    done.push(n);
    return begun;
  });
  const settled = async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    return done.toSorted((a, b) => a - b);
  };
  expect(await settled()).toEqual([0, 1, 12, 13]);
  const reached = "dev-1: requestsPerMinute = 2 of model claude is reached: the call begins in";
  expect(waits).toHaveLength(10);
  expect([waits[0], waits.at(-1)]).toEqual([`${reached} about 60 s`, `${reached} about 300 s`]);
  const refused = await calls[13];
  expect(refused).toMatchObject({ granted: false, code: "rate_limited" });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await settled()).toEqual([0, 1, 2, 3, 12, 13]);
  await vi.advanceTimersByTimeAsync(240_000);
  expect(await settled()).toHaveLength(14);
});
