import { createSpend } from "../../../src/features/spend/spend-store.ts";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { usdOfNano } from "../../../src/foundation/contracts/money.ts";
import { tempStore } from "../../foundation/store/support.ts";
import { budgets } from "./rules/support.ts";
import { costOfAll, playCall, randomCalls } from "./load.ts";
import { tempMeter } from "./support.ts";

/** In memory if there is a file system for that. */
function quickDir(): string {
  const dir = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "al-spend-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

const dayMs = 86_400_000;
const seeds = Number(process.env.AL_SPEND_SEEDS ?? 10);
/** The cost of the shortest answer with the longest request. */
const leastUsd = 0.005;

test(`1,000 concurrent model calls of 50 runs never exceed a budget that pays a third of them, ${seeds} seeds`, async () => {
  const store = tempStore(quickDir());
  for (let seed = 1; seed <= seeds; seed++) {
    const calls = randomCalls(seed);
    const cap = Math.floor(costOfAll(calls) / 3);
    const now = Date.parse("2026-01-01T12:00:00Z") + seed * dayMs;
    const day = new Date(now).toISOString().slice(0, 10);
    const stored = () => store.tables(createSpend).account("project", day)?.spent ?? 0;
    const dayUsd = usdOfNano(cap);
    const { meter } = tempMeter(
      { now: () => now, budgetsOf: () => budgets({}, { dayUsd }) },
      store,
    );
    let most = 0;
    const onGrant = () => {
      most = Math.max(most, stored());
    };
    const granted = await Promise.all(calls.map((call) => playCall(meter, call, onGrant)));
    expect(most).toBeLessThanOrEqual(cap);
    const [project] = meter.limits(["agent-0"]);
    expect(project?.reserved).toBe(0);
    expect(stored()).toBeLessThanOrEqual(cap);
    // The money was there to be used: calls were refused only because too little of it was left.
    expect(granted).toContain(false);
    expect(project?.usd).toBeGreaterThan(dayUsd - leastUsd);
  }
  expect(store.tables(createSpend).rows({ by: "agent", since: 0, agent: null })).toHaveLength(5);
}, 180_000);
