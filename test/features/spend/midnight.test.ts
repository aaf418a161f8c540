import { expect, test, vi } from "vitest";
import { tempDir, tempStore } from "../../foundation/store/support.ts";
import { budgets } from "./rules/support.ts";
import { answered, tempMeter } from "./support.ts";

const evening = Date.parse("2026-11-30T23:59:50Z");
const seconds = 1_000;
const windows = ["2026-11-30", "2026-11", "2026-12-01", "2026-12"];

/** Two cents a day, and a clock that is set. */
function nightMeter(dir: string) {
  const clock = { time: evening };
  const store = tempStore(dir, () => clock.time);
  const budgetsOf = () => budgets({ dayUsd: 0.02 });
  return { clock, ...tempMeter({ budgetsOf, now: () => clock.time }, store) };
}

/** Nano-dollars that are spent and reserved of the agent's windows. */
function books({ store }: Pick<ReturnType<typeof nightMeter>, "store">) {
  const rows = store.spendReport.accounts(windows).filter(({ scope }) => scope === "agent:dev");
  return Object.fromEntries(rows.map(({ window, nano, reserved }) => [window, [nano, reserved]]));
}

test("a call that is open at midnight is charged to the day and month that reserved it, once", async () => {
  const night = nightMeter(tempDir());
  const { clock, begin } = night;
  const before = await begin();
  clock.time += 20 * seconds;
  const after = await begin();
  expect(after.maxOutputTokens).toBeNull();
  before.settle(answered(4_000));
  before.settle(answered(4_000));
  await vi.waitFor(() =>
    expect(books(night)).toEqual({
      ...{ "2026-11-30": [4_000_000, 0], "2026-11": [4_000_000, 0] },
      ...{ "2026-12-01": [0, 10_000_000], "2026-12": [0, 10_000_000] },
    }),
  );
  expect(night.meter.run("dev-1", "dev")).toMatchObject({
    usd: 0.004,
    reservedUsd: 0.01,
    turns: 2,
  });
});

test("after the clock is set back over midnight, both days have their own spending", async () => {
  const { clock, begin, refusal } = nightMeter(tempDir());
  (await begin()).settle(answered(10_000));
  clock.time += 20 * seconds;
  (await begin({ maxOutputTokens: 19_000 })).settle(answered(19_000));
  expect((await refusal()).detail).toContain("for 2026-12-01: $0.02 of $0.02 is spent");
  clock.time -= 20 * seconds;
  (await begin()).settle(answered(10_000));
  expect((await refusal()).detail).toContain("for 2026-11-30: $0.02 of $0.02 is spent");
  clock.time += 20 * seconds;
  expect((await refusal()).detail).toContain("for 2026-12-01: $0.02 of $0.02 is spent");
});

test("a scheduler that is killed before midnight leaves its reservation to that day", async () => {
  const dir = tempDir();
  const killed = nightMeter(dir);
  await killed.begin();
  killed.store.close();
  const next = nightMeter(dir);
  next.clock.time += 20 * seconds;
  await next.store.recover();
  expect((await next.begin({ maxOutputTokens: 20_000 })).maxOutputTokens).toBeNull();
  expect(books(next)).toEqual({
    ...{ "2026-11-30": [10_000_000, 0], "2026-11": [10_000_000, 0] },
    ...{ "2026-12-01": [0, 20_000_000], "2026-12": [0, 20_000_000] },
  });
});
