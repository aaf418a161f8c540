import { UserError } from "../../../src/foundation/errors.ts";
import { expect, test } from "vitest";
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
  expect(await page.locator("#forecast").innerText()).toBe("$157.50");
  expect(await page.locator("#forecast-note").innerText()).toBe(
    "p90 $157.50, by schedules, triggers and the last runs",
  );
  const texts = async (id: string) =>
    (await page.locator(`#${id} tr`).allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " "));
  expect(await texts("agents")).toEqual(["dev $5.01 2 5.0M", "cat 1 unpriced $0.25 1 250k"]);
  expect(await texts("models")).toEqual([
    "claude $5.01 2 5.0M",
    "new unpriced 1 unpriced $0.25 1 250k",
  ]);
  expect(await texts("limits")).toHaveLength(6);
  expect(await page.locator("#unpriced").innerText()).toContain("Model new is unpriced");
  expect(await page.locator("#days rect").count()).toBe(30);
  expect(await page.locator("#days rect:not(.none) title").textContent()).toContain("$5.26");
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
