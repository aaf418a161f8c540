import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { testDeps } from "../gateway/start-gateway.ts";
import { sharedBrowser } from "./open-page.ts";

const open = sharedBrowser();
const version = { hash: "a".repeat(32), commit: null, dirty: null };

/** A scheduler with an open alert, and with two deliveries that were given up. */
function withAlerts() {
  const deps = testDeps();
  deps.operations.setScheduler({ alerts: { open: 1, dead: 2 } });
  const run = { instanceId: "dev-aaaaaaaa", version };
  const difference = { from: run, to: run, changed: false, text: "" };
  deps.operations.differences.set("dev-aaaaaaaa", difference);
  return deps;
}

const icon = (page: Page) => page.locator("link[rel=icon]").getAttribute("href");

test.each([
  ["/dashboard", "hello · Almanac"],
  ["/dashboard/triggers", "Triggers · hello · Almanac"],
  ["/dashboard/cost", "Cost · hello · Almanac"],
  ["/dashboard/alerts", "Alerts · hello · Almanac"],
  ["/dashboard/agents/dev", "dev · hello · Almanac"],
  ["/dashboard/agents/dev/logs", "dev · log · Almanac"],
  ["/dashboard/agents/dev/runs/dev-aaaaaaaa/changes", "What changed · dev · Almanac"],
])("the tab of %s has the count and another icon while there is one", async (path, title) => {
  const deps = withAlerts();
  const { page, errors } = await open(path, deps);
  await expect.poll(() => page.title()).toBe(`(3) ${title}`);
  const alert = await icon(page);
  deps.operations.setScheduler({ alerts: { open: 0, dead: 0 } });
  await page.reload();
  await expect.poll(() => page.title()).toBe(title);
  expect(await icon(page)).not.toBe(alert);
  expect(errors).toEqual([]);
});

test("the count follows at once while the page is seen", async () => {
  const { page, deps } = await open("/dashboard");
  await page.waitForSelector("body[data-connection=live]");
  const calm = await icon(page);
  const link = page.getByRole("link", { name: /^Alerts/ });
  expect(await link.innerText()).toBe("Alerts");
  deps.operations.setScheduler({ alerts: { open: 1_234, dead: 0 } });
  await expect.poll(() => page.title()).toBe("(1234) hello · Almanac");
  expect(await link.innerText()).toMatch(/^Alerts\s+1,234/);
  expect(await icon(page)).not.toBe(calm);
  deps.operations.setScheduler({ alerts: { open: 0, dead: 0 } });
  await expect.poll(() => page.title()).toBe("hello · Almanac");
  expect(await icon(page)).toBe(calm);
});

/** A test browser calls every page visible. */
async function hide(page: Page): Promise<void> {
  await page.evaluate(`Object.defineProperty(document, "visibilityState", { get: () => "hidden" });
    document.dispatchEvent(new Event("visibilitychange"));`);
}

test("a hidden tab, which has no stream, asks once a minute", async () => {
  const { page, deps, url } = await open("/dashboard");
  await page.clock.install();
  await page.reload();
  await page.waitForSelector("body[data-connection=live]");
  await hide(page);
  await page.clock.fastForward(2_000);
  deps.operations.setScheduler({ alerts: { open: 2, dead: 0 } });
  await page.clock.fastForward(60_000);
  await expect.poll(() => page.title()).toBe("(2) hello · Almanac");
  await page.route("**/dashboard/api/scheduler", (route) => route.abort());
  const failed = page.waitForEvent("requestfailed", (one) => one.url().endsWith("/scheduler"));
  await page.clock.fastForward(60_000);
  await failed;
  await page.unrouteAll();
  deps.sessions.endAll();
  const refused = page.waitForResponse("**/dashboard/api/scheduler");
  await page.clock.fastForward(60_000);
  expect((await refused).status()).toBe(401);
  // What a person left there stays, until it is looked at.
  await page.waitForTimeout(200);
  expect([page.url(), await page.title()]).toEqual([`${url}/dashboard`, "(2) hello · Almanac"]);
});
