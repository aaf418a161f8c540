/** Plays calls against a budget over a real store and reports those that were granted, until it is killed. */
import { createSpend } from "../../../src/features/spend/spend-store.ts";
import { openStore } from "../../../src/features/open-store.ts";
import { createMeter } from "../../../src/features/spend/meter.ts";
import { playCall, randomCalls } from "./load.ts";
import { budgets } from "./rules/support.ts";
import { terms } from "./support.ts";

const [dir = "", seed = "1", dayUsd = "1"] = process.argv.slice(2);
const store = openStore(dir);
await store.recover();
const meter = createMeter({
  store: store.tables(createSpend),
  termsOf: () => Promise.resolve(terms),
  budgetsOf: () => budgets({}, { dayUsd: Number(dayUsd) }),
  timezone: () => "UTC",
  liveRuns: () => [],
  onError: (error) => {
    throw error;
  },
  now: () => Date.parse("2026-11-22T12:00:00Z"),
});
await Promise.all(
  randomCalls(Number(seed)).map((call) =>
    playCall(meter, call, () => process.stdout.write(`${call.plan.instanceId}\n`)),
  ),
);
store.close();
