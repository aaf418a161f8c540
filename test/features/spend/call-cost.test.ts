import { tempStore } from "../../foundation/store/support.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { answered, tempMeter, terms } from "./support.ts";

test("a call that its run hung up on costs the reserved amount, or more if more was seen", async () => {
  const { meter, begin } = tempMeter();
  const hungUp = { estimated: true, isCut: true, isHungUp: true };
  (await begin()).settle(answered(10, hungUp));
  expect(meter.run("dev-1", "dev")).toMatchObject({ usd: 0.01, reservedUsd: 0, turns: 1 });
  (await begin()).settle(answered(20_000, hungUp));
  expect(meter.run("dev-1", "dev").usd).toBe(0.03);
});

test("a call that the scheduler cut costs its request and the streamed part of its answer", async () => {
  const { meter, begin } = tempMeter();
  (await begin()).settle(answered(10, { estimated: true, isCut: true }));
  expect(meter.run("dev-1", "dev")).toMatchObject({ usd: 0.00001, reservedUsd: 0, turns: 1 });
});

test("a call that dies with its scheduler costs its request, and the streamed part of its answer once that is stored", async () => {
  const dir = tempDir();
  const first = tempStore(dir);
  const before = tempMeter({}, first);
  await before.begin({ requestBytes: 3_000 });
  (await before.begin()).seen(answered(20, { estimated: true }));
  (await before.begin()).settle(answered(1));
  first.close();
  const next = tempStore(dir);
  await next.recover();
  const { meter } = tempMeter({}, next);
  expect(meter.run("dev-1", "dev")).toMatchObject({ usd: 0.001021, turns: 3 });
  expect(meter.limits(["dev"]).every(({ usd }) => usd === 0.001021)).toBe(true);
});

test.each([
  ["openrouter", "unpriced", 0.0021, 0.0021, 0],
  ["openrouter", "priced", 0, 0, 0],
  ["openrouter", "unpriced", null, 0.003, 1],
  ["custom", "unpriced", 0.0021, 0.003, 1],
] as const)(
  "a call to %s (%s) that reports a cost of %s USD costs %f, and %i calls are unpriced",
  async (provider, billing, usd, cost, unpriced) => {
    const termsOf = () => Promise.resolve({ ...terms, provider, billing });
    const { meter, store, begin } = tempMeter({ termsOf });
    (await begin()).settle(answered(3_000, { usd }));
    expect(meter.run("dev-1", "dev").usd).toBe(cost);
    const whole = { nano: Math.round(cost * 1e9), unpriced, estimated: 0 };
    await expect.poll(() => store.spendReport.run("dev-1")).toMatchObject(whole);
  },
);
