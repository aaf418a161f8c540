import { createSpend } from "../../../src/features/spend/spend-store.ts";
import { tempStore, reopened } from "../../foundation/store/support.ts";
import { answered, tempMeter, terms } from "./support.ts";

test("a model call whose run closed the connection early costs the reserved amount, or the streamed part if that costs more", async () => {
  const { charge, spent } = tempMeter();
  const hungUp = { estimated: true, isCut: true, isHungUp: true };
  await charge(10, hungUp);
  expect(spent()).toMatchObject({ usd: 0.01, reservedUsd: 0, turns: 1 });
  await charge(20_000, hungUp);
  expect(spent().usd).toBe(0.03);
});

test("a model call that the scheduler aborted costs its request and the streamed part of the answer", async () => {
  const { charge, spent } = tempMeter();
  await charge(10, { estimated: true, isCut: true });
  expect(spent()).toMatchObject({ usd: 0.00001, reservedUsd: 0, turns: 1 });
});

test("a model call that is open when the scheduler crashes costs its request and the stored part of the answer", async () => {
  const first = tempStore();
  const before = tempMeter({}, first);
  await before.begin({ requestBytes: 3_000 });
  (await before.begin()).seen(answered(20, { estimated: true }));
  await before.charge(1);
  const next = reopened(first);
  await next.recover();
  const { meter, spent } = tempMeter({}, next);
  expect(spent()).toMatchObject({ usd: 0.001021, turns: 3 });
  expect(meter.limits(["dev"]).every(({ usd }) => usd === 0.001021)).toBe(true);
});

test.each([
  ["openrouter", "unpriced", 0.0021, 0.0021, 0],
  ["openrouter", "priced", 0, 0, 0],
  ["openrouter", "unpriced", null, 0.003, 1],
  ["custom", "unpriced", 0.0021, 0.003, 1],
] as const)(
  "a model call to %s (billing: %s) that reports %s USD costs %f, with %i unpriced calls",
  async (provider, billing, usd, cost, unpriced) => {
    const termsOf = () => Promise.resolve({ ...terms, provider, billing });
    const { store, charge, spent } = tempMeter({ termsOf });
    await charge(3_000, { usd });
    expect(spent().usd).toBe(cost);
    const whole = { nano: Math.round(cost * 1e9), unpriced, estimated: 0 };
    await expect.poll(() => store.tables(createSpend).run("dev-1")).toMatchObject(whole);
  },
);
