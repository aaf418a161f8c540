import { UserError } from "../../../src/foundation/errors.ts";
import type { CallPlan } from "../../../src/foundation/contracts/model-gateway.ts";
import { createSpendAnswers } from "../../../src/interfaces/operations/spend-answer.ts";
import { newRecord } from "../../../streams/status/agent-record.ts";
import { anAgent } from "../../helpers/agents.ts";
import { fakeOperations } from "../../helpers/fake-operations.ts";
import { answered, tempMeter, terms } from "../../features/spend/support.ts";
import { budgets } from "../../features/spend/rules/support.ts";
import { testDeps } from "../gateway/start-gateway.ts";
import { sharedBrowser } from "./open-page.ts";

const open = sharedBrowser();

test("a row shows its agent's spending today, and that of its running runs", async () => {
  const endsAt = new Date(Date.now() + 3_600_000).toISOString();
  const deps = testDeps({
    operations: fakeOperations([
      { name: "dev", spentToday: { usd: 1.25, endsAt } },
      { name: "new" },
    ]),
  });
  const { page } = await open("/dashboard", deps);
  const cost = page.locator("tr[data-agent=dev] td.cost-today");
  await expect.poll(() => cost.innerText()).toBe("$1.25");
  expect(await page.locator("tr[data-agent=new] td.cost-today").innerText()).toBe("–");
  const spent = { running: 1, runningUsd: 0.05, spentToday: { usd: 1.3, endsAt } };
  deps.operations.setAgent({ name: "dev", ...spent });
  await expect.poll(() => cost.innerText()).toMatch(/^\$1\.30\s+now \$0\.05$/);
});

/** Answers about what a real meter let through and stored. */
function spending() {
  const { begin, meter, store } = tempMeter({
    budgetsOf: () => budgets({ dayUsd: 8 }, { monthUsd: 20 }),
    termsOf: (model) =>
      Promise.resolve(model === "new" ? { ...terms, billing: "unpriced" } : terms),
  });
  const agents = ["dev", "cat"].map((name) => {
    const config = anAgent(name, { schedule: "0 9 * * *", timezone: "UTC" });
    return { ...newRecord(name), config };
  });
  const spend = createSpendAnswers({
    report: store.spendReport,
    limits: (names) => meter.limits(names),
    agents: () => agents,
    timezone: () => "UTC",
    now: Date.now,
  });
  const deps = testDeps();
  Object.assign(deps.operations, { spend });
  const pay = async (tokens: number, call: Partial<CallPlan> = {}): Promise<void> => {
    (await begin(call)).settle(answered(tokens));
    await store.spend.raise([], 0);
  };
  return { deps, pay, begin };
}

test("the page shows spending and reservations by day, agent and model, and the forecast", async () => {
  const { deps, pay, begin } = spending();
  await pay(5_000_000);
  await pay(250_000, { agent: "cat", instanceId: "cat-1", model: "new" });
  await begin();
  const { page, errors } = await open("/dashboard/cost", deps);
  await expect.poll(() => page.locator("#today").innerText()).toBe("$5.25");
  expect(await page.locator("#today-note").innerText()).toBe("no limit");
  expect(await page.locator("#month-note").innerText()).toBe("of $20.00");
  expect(await page.locator("#reserved").innerText()).toBe("$0.01");
  const now = new Date();
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  const restDays = (Date.UTC(year, month + 1) - Date.now()) / 86_400_000;
  const atEnd = Number((await page.locator("#forecast").innerText()).slice(1).replace(",", ""));
  expect(Math.abs(atEnd - (5.25 + (157.5 * restDays) / 30))).toBeLessThan(0.1);
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  expect(await page.locator("#figures dt").last().innerText()).toMatch(
    new RegExp(`^By [A-Z][a-z]{2} ${lastDay}$`),
  );
  expect(await page.locator("#forecast-note").innerText()).toBe(
    "so far, and the rest at $157.50 in 30 days (p90 $157.50)",
  );
  const texts = async (id: string) =>
    (await page.locator(`#${id} tr`).allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " "));
  expect(await texts("agents")).toEqual(["dev $5.00 2 5.0M", "cat 1 unpriced $0.25 1 250k"]);
  expect(await texts("models")).toEqual([
    "claude $5.00 2 5.0M",
    "new unpriced 1 unpriced $0.25 1 250k",
  ]);
  expect(await texts("limits")).toEqual([
    expect.stringMatching(/^project \d{4}-\d\d \$5\.25 \$0\.01 reserved \$20\.00$/),
    expect.stringMatching(/^dev \d{4}-\d\d-\d\d \$5\.00 \$0\.01 reserved \$8\.00$/),
    expect.stringMatching(/^cat \d{4}-\d\d-\d\d \$0\.25 \$8\.00$/),
  ]);
  expect(await page.locator("#unpriced").innerText()).toContain("Model new is unpriced");
  expect(await page.locator("#days rect").count()).toBe(30);
  expect(await page.locator("#days rect:not(.none) title").textContent()).toContain("$5.25");
  expect(await page.locator("nav.pages [aria-current]").innerText()).toBe("Cost");
  await page.getByRole("link", { name: "cat" }).click();
  await page.waitForURL("**/dashboard/agents/cat");
  expect(errors).toEqual([]);
});

test("the page follows the spending of runs, and keeps the last amounts while the store is unavailable", async () => {
  const { deps, pay } = spending();
  const { page } = await open("/dashboard/cost", deps);
  await expect.poll(() => page.locator("#empty").isVisible()).toBe(true);
  expect(await page.locator("#parts").isVisible()).toBe(false);
  expect(await page.locator("#today").innerText()).toBe("$0.00");
  expect(await page.locator("#forecast").innerText()).toBe("–");
  await pay(1_000_000);
  deps.operations.setAgent({ name: "dev", runningUsd: 1 });
  await expect.poll(() => page.locator("#today").innerText(), { timeout: 10_000 }).toBe("$1.00");
  expect(await page.locator("#empty").isVisible()).toBe(false);
  expect(await page.locator("#unpriced").isVisible()).toBe(false);
  deps.operations.spend = () => {
    throw new UserError("store_unavailable", "the disk is full");
  };
  deps.operations.setAgent({ name: "dev", runningUsd: 2 });
  const toast = page.locator(".toast").first();
  await expect.poll(() => toast.innerText(), { timeout: 10_000 }).toContain("the disk is full");
  expect(await page.locator("#today").innerText()).toBe("$1.00");
});

test("the range is chosen and in the address; a day's amount is shown by pointer and keys", async () => {
  const { deps, pay } = spending();
  await pay(1_000_000);
  const { page, errors } = await open("/dashboard/cost", deps);
  const bars = page.locator("#days rect");
  await expect.poll(() => bars.count()).toBe(30);
  await page.getByRole("combobox", { name: "Time" }).selectOption("7 days");
  await expect.poll(() => bars.count()).toBe(7);
  expect(page.url()).toContain("days=7");
  await page.reload();
  await expect.poll(() => bars.count()).toBe(7);
  const note = page.locator("#days .chart-note");
  expect(await note.innerText()).toBe("$1.00 in all, at most $1.00 a day");
  expect(await page.locator(".chart-scale").innerText()).toMatch(/\$1\.00\s+\$0\.50\s+\$0/);
  const today = new Date().toISOString().slice(0, 10);
  await page.getByRole("group", { name: "Cost by day" }).focus();
  await page.keyboard.press("ArrowLeft");
  await expect.poll(() => note.innerText()).toBe(`${today}: $1.00, 1 call`);
  await page.keyboard.press("ArrowLeft");
  await expect.poll(() => note.innerText()).toMatch(/: nothing$/);
  expect(await page.locator("#days rect.chosen").count()).toBe(1);
  await bars.last().hover();
  await expect.poll(() => note.innerText()).toBe(`${today}: $1.00, 1 call`);
  await page.getByRole("combobox", { name: "Time" }).selectOption("90 days");
  await expect.poll(() => bars.count()).toBe(90);
  expect(errors).toEqual([]);
});
