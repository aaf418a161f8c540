import { createSpend } from "../../../../../src/features/spend/spend-store.ts";
import { Problem } from "../../../../../src/foundation/errors.ts";
import type { CallPlan } from "../../../../../src/foundation/contracts/model-gateway.ts";
import { createSpendAnswers } from "../../../../../src/features/spend/spend-answers.ts";
import { newRecord } from "../../../../../streams/status/agent-record.ts";
import { anAgent } from "../../../../helpers/agents.ts";
import { answered, tempMeter, terms } from "../../../../features/spend/support.ts";
import { budgets } from "../../../../features/spend/rules/support.ts";
import { testDeps } from "../../../gateway/start-gateway.ts";
import { sharedBrowser } from "../../open-page.ts";

const open = sharedBrowser();

/** Answers about what a real meter let through and stored. */
function spending() {
  const { begin, meter, store } = tempMeter({
    now: Date.now,
    budgetsOf: () => budgets({ dayUsd: 8 }, { monthUsd: 20 }),
    termsOf: (model) =>
      Promise.resolve(model === "new" ? { ...terms, billing: "unpriced" } : terms),
  });
  const agents = ["dev", "cat"].map((name) => {
    const config = anAgent(name, { schedule: "0 9 * * *", timezone: "UTC" });
    return { ...newRecord(name), config };
  });
  const answer = createSpendAnswers({
    report: store.tables(createSpend),
    limits: (names) => meter.limits(names),
    agents: () => agents,
    timezone: () => "UTC",
    now: Date.now,
  });
  const deps = testDeps();
  Object.assign(deps.context.spend, { answer });
  const pay = async (tokens: number, call: Partial<CallPlan> = {}): Promise<void> => {
    (await begin(call)).settle(answered(tokens));
    await store.tables(createSpend).raise([], 0);
  };
  return { deps, pay, begin };
}

test("the page Cost shows spending and reservations by day, agent and model, and the forecast", async () => {
  const { deps, pay, begin } = spending();
  await pay(5_000_000);
  await pay(250_000, { agent: "cat", instanceId: "cat-1", model: "new" });
  await begin();
  const { page, shows } = await open("/dashboard/cost", deps);
  await shows({
    "#today": "$5.25",
    "#today-note": "no limit",
    "#month-note": "of $20.00",
    "#reserved": "$0.01",
  });
  const now = new Date();
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const restDays = (Date.UTC(year, month + 1) - Date.now()) / 86_400_000;
  const atEnd = Number((await page.locator("#forecast").innerText()).slice(1).replace(",", ""));
  expect(Math.abs(atEnd - (5.25 + (157.5 * restDays) / 30))).toBeLessThan(0.1);
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  await shows({
    "#figures dt >> nth=-1": new RegExp(`^By [A-Z][a-z]{2} ${lastDay}$`),
    "#forecast-note": "so far, and the rest at $157.50 in 30 days (p90 $157.50)",
  });
  await shows({
    "#agents tr": ["dev $5.00 2 5.0M", "cat 1 unpriced $0.25 1 250k"],
    "#models tr": ["claude $5.00 2 5.0M", "new unpriced 1 unpriced $0.25 1 250k"],
    "#limits tr": [
      /^project \d{4}-\d\d \$5\.25 \$0\.01 reserved \$20\.00$/,
      /^dev \d{4}-\d\d-\d\d \$5\.00 \$0\.01 reserved \$8\.00$/,
      /^cat \d{4}-\d\d-\d\d \$0\.25 \$8\.00$/,
    ],
    "#unpriced": /Model new is unpriced/,
    "#days rect": 30,
    "#days rect:not(.none) title": /\$5\.25/,
    "nav.pages [aria-current]": "Cost",
  });
  await page.getByRole("link", { name: "cat" }).click();
  await page.waitForURL("**/dashboard/agents/cat");
});

test("the page Cost follows the spending of runs, and keeps the last amounts while the store is unavailable", async () => {
  const { deps, pay } = spending();
  const { shows } = await open("/dashboard/cost", deps);
  await shows({ "#empty": true, "#parts": false, "#today": "$0.00", "#forecast": "–" });
  await pay(1_000_000);
  deps.operations.setAgent({ name: "dev", runningUsd: 1 });
  await shows({ "#today": "$1.00", "#empty": false, "#unpriced": false });
  const answer = () => {
    throw new Problem("store_unavailable", "the disk is full");
  };
  Object.assign(deps.context.spend, { answer });
  deps.operations.setAgent({ name: "dev", runningUsd: 2 });
  await shows({ ".toast >> nth=0": /the disk is full/, "#today": "$1.00" });
});

test("the range of the page Cost is in the address; a day's amount is shown by pointer and keys", async () => {
  const { deps, pay } = spending();
  await pay(1_000_000);
  const { page, shows } = await open("/dashboard/cost", deps);
  const bars = page.locator("#days rect");
  await shows({ "#days rect": 30 });
  await page.getByRole("combobox", { name: "Time" }).selectOption("7 days");
  await shows({ "#days rect": 7 });
  await page.waitForURL(/days=7/);
  await page.reload();
  await shows({
    "#days rect": 7,
    "#days .chart-note": "$1.00 in all, at most $1.00 a day",
    ".chart-scale": /\$1\.00\s+\$0\.50\s+\$0/,
  });
  const today = new Date().toISOString().slice(0, 10);
  await page.getByRole("group", { name: "Cost by day" }).focus();
  await page.keyboard.press("ArrowLeft");
  await shows({ "#days .chart-note": `${today}: $1.00, 1 call` });
  await page.keyboard.press("ArrowLeft");
  await shows({ "#days .chart-note": /: nothing$/, "#days rect.chosen": 1 });
  await bars.last().hover();
  await shows({ "#days .chart-note": `${today}: $1.00, 1 call` });
  await page.getByRole("combobox", { name: "Time" }).selectOption("90 days");
  await shows({ "#days rect": 90 });
});
