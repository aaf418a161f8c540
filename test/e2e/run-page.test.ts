import type { Browser, Page } from "playwright-core";
import { openBrowser } from "../helpers/browser.ts";
import { forAll, LiveProject } from "../helpers/live-project.ts";
import type { TestScheduler } from "../helpers/scheduler.ts";
import { webhookProject } from "../features/webhooks/webhook-project.ts";

let project: LiveProject;
let scheduler: TestScheduler;
let browser: Browser;
let page: Page;

forAll(async () => {
  const triage = '[[webhooks]]\nsource = "open-github"\nevents = ["issues"]\n';
  project = new LiveProject(await webhookProject({ triage }));
  scheduler = await project.start();
  browser = await openBrowser();
  page = await browser.newPage();
  await page.goto(scheduler.dashboardUrl);
  await page.getByLabel(/key/i).fill(scheduler.apiKey);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/dashboard$/);
});
afterAll(() => browser.close());

async function deliver(title: string): Promise<void> {
  const issue = { number: 7, title, html_url: "https://example.test/7", user: { login: "ann" } };
  const delivery = { action: "opened", issue, repository: { full_name: "acme/web" } };
  const answer = await scheduler.api("/webhooks/github/open-github", {
    method: "POST",
    headers: { "content-type": "application/json", "x-github-event": "issues" },
    body: JSON.stringify({ ...delivery, sender: { login: "ann", type: "User" } }),
  });
  expect(answer.status).toBe(200);
}

test("a delivery's run is found on its agent's page, and run again with another payload", async () => {
  await deliver("Login fails");
  await page.goto(`${scheduler.url}/dashboard/agents/triage`);
  await page.locator("#run-rows a.run-link").click();
  await page.waitForURL(/\/dashboard\/agents\/triage\/runs\/triage-[a-z2-7]{8}$/);
  const first = page.url();
  await page.getByText("succeeded", { exact: true }).first().waitFor({ timeout: 20_000 });
  expect(await page.locator("#trigger").innerText()).toContain('"title": "Login fails"');
  expect(await page.locator("#result").innerText()).toContain("done");
  await expect.poll(() => page.locator("#log").innerText()).toContain("run succeeded");

  await page.getByRole("button", { name: "Run again" }).click();
  const field = page.getByRole("textbox", { name: "Payload" });
  await field.fill((await field.inputValue()).replace("Login fails", "Logout fails"));
  await page.locator("#again-dialog [type=submit]").click();
  await page.locator("#again-result a").click();
  await page.waitForURL((url) => url.href !== first);
  await page.getByText("succeeded", { exact: true }).first().waitFor({ timeout: 20_000 });
  expect(await page.locator("#trigger-words").innerText()).toBe("manual");
  expect(await page.locator("#trigger").innerText()).toContain('"title": "Logout fails"');
  expect(await page.locator("#since").innerText()).toContain("It ran the same.");

  const [again = "", original = ""] = [page.url(), first].map((url) => url.split("/").at(-1));
  const shown = await project.print("show", again);
  expect(shown).toMatch(/^Trigger +manual$/m);
  expect(shown).toMatch(new RegExp(`^Last success +${original}; ran the same$`, "m"));
});
