import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Browser, Page } from "playwright-core";
import { openBrowser } from "../helpers/browser.ts";
import { slow } from "../helpers/made-day/agents.ts";
import { startLiveDay, unwilling } from "../helpers/made-day/live-day.ts";
import { failing, failure } from "../helpers/made-day/made-runs.ts";
import type { TestScheduler } from "../helpers/scheduler.ts";

let scheduler: TestScheduler;
let browser: Browser;

beforeAll(async () => {
  [scheduler, browser] = await Promise.all([startLiveDay(), openBrowser()]);
}, 120_000);
afterAll(async () => {
  await browser.close();
  await scheduler.kill();
  await scheduler.project.remove();
});

/** The row of an agent in the overview. */
async function rowOf(agent: string): Promise<{ page: Page; row: ReturnType<Page["locator"]> }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(scheduler.dashboardUrl);
  await page.getByLabel("API key").fill(scheduler.apiKey);
  await page.getByRole("button", { name: "Log in" }).click();
  const row = page.locator("tbody tr", {
    has: page.getByRole("link", { name: agent, exact: true }),
  });
  await row.waitFor();
  return { page, row };
}

const patience = { timeout: 20_000 };

describe("of thirty agents with a day of history, one click answers", () => {
  test("what is it doing?", async () => {
    const { page, row } = await rowOf(slow);
    await expect.poll(() => row.innerText(), patience).toContain("waiting for the health checks");
    await row.getByRole("link", { name: "log" }).click();
    await page
      .getByText(/check \d+: not yet/)
      .first()
      .waitFor(patience);
  });

  test("why didn't it run?", async () => {
    const { page, row } = await rowOf(unwilling);
    await row.getByRole("link", { name: unwilling, exact: true }).click();
    await page
      .getByText(/actions?: wants opened/)
      .first()
      .waitFor(patience);
  });

  test("what came out?", async () => {
    const { page, row } = await rowOf("report-web");
    await row.getByRole("link", { name: /ago$/ }).click();
    const result = page.locator("section", { has: page.getByRole("heading", { name: "Result" }) });
    await expect.poll(() => result.innerText(), patience).toMatch(/"summary": "Report \d+ of web/);
  });

  test("what did it cost?", async () => {
    const { page, row } = await rowOf(failing);
    await row.getByRole("link", { name: failing, exact: true }).click();
    const cost = page.locator("section", { has: page.getByRole("heading", { name: "Cost" }) });
    await expect.poll(() => cost.innerText(), patience).toMatch(/This month\s+\$\d+\.\d\d/);
  });

  test("what changed since it last worked?", async () => {
    const { page, row } = await rowOf(failing);
    await row.getByRole("link", { name: /ago$/ }).click();
    const since = page.locator("#since");
    await expect
      .poll(() => since.innerText(), patience)
      .toContain('"host": "ledger-old.acme.test"');
  });

  test("when did this error first appear?", async () => {
    const { page } = await rowOf(failing);
    await page.goto(`${scheduler.dashboardUrl}/agents/${failing}/runs/latest`);
    await page.getByRole("link", { name: "When did this error first appear?" }).click();
    const first = page.locator("main mark").first();
    await first.waitFor(patience);
    expect(page.url()).toContain("order=oldest");
    expect(await page.locator("main").innerText()).toContain(failure);
  });
});
