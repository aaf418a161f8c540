import type { Page } from "playwright-core";
import { aDelivery, aTarget } from "../../helpers/fake-alerts.ts";
import { testDeps, type TestDeps } from "../gateway/start-gateway.ts";
import { sharedBrowser } from "./open-page.ts";

const open = sharedBrowser();
const path = "/dashboard/alerts";
const since = new Date(Date.now() - 5_400_000).toISOString();

/** Two things are wrong, one target fails, one is off, and of four deliveries one arrived. */
function withAlerts(): TestDeps {
  const deps = testDeps();
  const { alerting } = deps.operations;
  alerting.targets = [
    aTarget("ops", { state: "failing", waiting: 2, dead: 1, lastError: "HTTP 503" }),
    aTarget("chat", { type: "telegram", state: "off", lastError: "HTTP 410", offSince: since }),
  ];
  const reason = "exited with code 1";
  alerting.open = [
    { agent: "dev", topic: "runs", since, count: 3, reason, ack: null },
    { agent: null, topic: "config", since, count: 1, reason: null, ack: null },
  ];
  const due = { endedAt: null, nextAt: new Date(Date.now() + 1_750_000).toISOString() };
  alerting.deliveries = [
    aDelivery(1, { state: "waiting", attempts: 0, ...due }),
    aDelivery(2, { state: "waiting", attempts: 3, ...due, lastError: "HTTP 503" }),
    aDelivery(3, { state: "dead", attempts: 8, lastError: "HTTP 404", title: "cat failed" }),
    aDelivery(4, { target: "chat", agent: null, instanceId: null, title: "3 alerts" }),
  ];
  deps.operations.setScheduler({ alerts: { open: 2, dead: 1 } });
  return deps;
}

async function texts(page: Page, id: string): Promise<string[]> {
  const rows = await page.locator(`#${id} tr`).allInnerTexts();
  return rows.map((text) => text.replaceAll(/\s+/g, " ").trim());
}

async function openTexts(page: Page): Promise<string[]> {
  const cells = page.locator("#open tr").filter({ visible: true });
  const rows = await cells.evaluateAll((all) =>
    all.map((row) => {
      const shown = row.querySelectorAll("td:not(.act)");
      return [...shown].map((cell) => cell.textContent).join(" ");
    }),
  );
  return rows.map((text) => text.replaceAll(/\s+/g, " ").trim());
}

test("the page shows open alerts, the state of each target, and where each delivery is", async () => {
  const { page, errors } = await open(path, withAlerts());
  await expect.poll(() => texts(page, "deliveries")).toHaveLength(4);
  expect(await openTexts(page)).toEqual([
    "runs fail dev 1 h ago 3 times exited with code 1",
    "config is invalid project 1 h ago",
  ]);
  expect(await texts(page, "targets")).toEqual([
    "ops slack failing 2 1 HTTP 503 Send a test",
    "chat telegram off 0 0 HTTP 410 Send a test",
  ]);
  expect(await texts(page, "deliveries")).toEqual([
    "1 min ago dev failed run exited with code 1 ops waiting in 29 min",
    "2 min ago dev failed run exited with code 1 ops waiting attempt 4 in 29 min HTTP 503 Retry",
    "3 min ago cat failed run exited with code 1 ops dead after 8 attempts HTTP 404 Retry",
    "4 min ago 3 alerts exited with code 1 chat sent",
  ]);
  expect(await page.locator("#total").innerText()).toBe("2 open · 1 dead");
  expect(await page.locator("#off").innerText()).toMatch(
    /^Target chat is off since .+: HTTP 410\. Nothing is sent to it\./,
  );
  const link = page.getByRole("link", { name: "Alerts 3 open or undelivered", exact: true });
  expect(await link.getAttribute("aria-current")).toBe("page");
  expect(errors).toEqual([]);
});

test("without targets the page shows how to add one, and alerts all the same", async () => {
  const deps = testDeps();
  deps.operations.alerting.open = [
    { agent: "dev", topic: "image", since, count: 1, reason: "no such image", ack: null },
  ];
  const { page } = await open(path, deps);
  await expect.poll(() => page.locator("#targets-none").innerText()).toContain("[alerts.ops]");
  await expect
    .poll(() => page.locator("#deliveries-none").innerText())
    .toBe("No alert was sent yet.");
  expect(await texts(page, "open")).toHaveLength(1);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy: Command" }).click();
  await expect
    .poll(() => page.evaluate("navigator.clipboard.readText()"))
    .toBe("al creds add slack_webhook");
  for (const id of ["open-none", "targets-table", "filters", "retry-all", "off", "pager"])
    expect(await page.locator(`#${id}`).isVisible(), id).toBe(false);
});

test("a test goes to one target, and its rejection is shown with the reason", async () => {
  const { page, deps } = await open(path, withAlerts());
  const { alerting, calls } = deps.operations;
  const toast = page.locator(".toast");
  alerting.answer = { accepted: false, error: "HTTP 404: no_service" };
  await page.getByRole("button", { name: "Send a test to ops" }).click();
  await expect
    .poll(() => toast.innerText())
    .toContain("ops did not accept the test: HTTP 404: no_service");
  alerting.answer = { accepted: true, error: null };
  alerting.targets = alerting.targets.map(({ name }) => aTarget(name));
  await page.getByRole("button", { name: "Send a test to chat" }).click();
  await expect.poll(() => texts(page, "targets")).toContain("chat slack ok 0 0 Accepted ✓");
  expect(await page.locator("#off").isVisible()).toBe(false);
  expect(calls.filter((call) => call.startsWith("test"))).toEqual([
    "testAlertTarget ops",
    "testAlertTarget chat",
  ]);
});

test("deliveries of one alert to several targets are one row, with a link to its agent", async () => {
  const deps = withAlerts();
  const { alerting } = deps.operations;
  const [first = aDelivery(1)] = alerting.deliveries;
  const twin = { ...aDelivery(7, { target: "chat", state: "dead", attempts: 8 }), at: first.at };
  alerting.deliveries = [{ ...first, lastError: "HTTP 503" }, twin, aDelivery(2)];
  const { page } = await open(path, deps);
  await expect.poll(() => texts(page, "deliveries")).toHaveLength(2);
  expect((await texts(page, "deliveries"))[0]).toMatch(
    /^1 min ago dev failed run exited with code 1 ops waiting in 29 min HTTP 503 chat dead after 8 attempts Retry$/,
  );
  const link = page
    .locator("#deliveries .what")
    .first()
    .getByRole("link", { name: "dev", exact: true });
  expect(await link.getAttribute("href")).toBe("/dashboard/agents/dev");
});

test("an open alert is acknowledged, snoozed and reminded of again", async () => {
  const { page, deps } = await open(path, withAlerts());
  const { calls } = deps.operations;
  await page.getByRole("button", { name: "Acknowledge: runs fail of dev" }).click();
  await expect
    .poll(async () => (await openTexts(page))[0])
    .toMatch(/exited with code 1acknowledged by the dashboard \S/);
  await page.getByRole("combobox", { name: "Snooze: config is invalid" }).selectOption("1 hour");
  await expect
    .poll(async () => (await openTexts(page))[1])
    .toMatch(/^config is invalid project 1 h ago snoozed by the dashboard until (.+, )?\d\d:\d\d/);
  await page.getByRole("button", { name: "Remind again: runs fail of dev" }).click();
  await expect.poll(async () => (await openTexts(page))[0]).toMatch(/exited with code 1$/);
  const asked = calls.filter((call) => call.startsWith("acknowledge"));
  const from = '"by":"the dashboard","agent":';
  expect(asked).toEqual([
    `acknowledgeAlerts {${from}"dev","topic":"runs"}`,
    expect.stringContaining(`{${from}null,"topic":"config","until":"`),
    `acknowledgeAlerts {${from}"dev","topic":"runs","undo":true}`,
  ]);
});

test("one delivery is retried at a click, all dead ones only after a confirmation", async () => {
  const { page, deps } = await open(path, withAlerts());
  const { alerting, calls } = deps.operations;
  const retries = () => calls.filter((call) => call.startsWith("retry"));
  await page.getByRole("button", { name: "Retry cat failed to ops" }).click();
  await expect.poll(async () => (await texts(page, "deliveries"))[2]).toContain("waiting");
  expect(retries()).toEqual([`retryAlert ${alerting.deliveries[2]?.id ?? ""}`]);
  const all = page.locator("#retry-all");
  expect(await all.innerText()).toBe("Retry the dead one");
  deps.operations.setScheduler({ alerts: { open: 2, dead: 1_200 } });
  await expect.poll(() => all.innerText()).toBe("Retry all 1,200 dead");
  await all.click();
  await expect.poll(() => all.innerText()).toBe("Send them again?");
  expect(retries()).toHaveLength(1);
  await all.click();
  await expect.poll(retries).toHaveLength(2);
  deps.operations.setScheduler({ alerts: { open: 2, dead: 0 } });
  await expect.poll(() => all.isVisible()).toBe(false);
});

test("the filters and the page are in the address", async () => {
  const deps = withAlerts();
  const { alerting } = deps.operations;
  const older = Array.from({ length: 120 }, (_, index) => aDelivery(10 + index));
  alerting.deliveries = [...alerting.deliveries, ...older];
  const { page, url } = await open(path, deps);
  await expect.poll(() => texts(page, "deliveries")).toHaveLength(50);
  await page.getByRole("button", { name: "Older →" }).click();
  await expect.poll(() => page.locator("#place").innerText()).toBe("Page 2");
  expect(page.url()).toBe(`${url}${path}?before=${older[45]?.id ?? ""}`);
  await page.getByRole("button", { name: "Older →" }).click();
  await expect.poll(() => texts(page, "deliveries")).toHaveLength(24);
  await page.getByLabel("State").selectOption("dead");
  await expect.poll(() => texts(page, "deliveries")).toHaveLength(1);
  expect(page.url()).toBe(`${url}${path}?state=dead`);
  await page.getByRole("combobox", { name: "Target" }).fill("chat");
  await page.keyboard.press("Enter");
  await expect
    .poll(() => page.locator("#deliveries-none").innerText())
    .toBe("No delivery meets these filters.");
  await page.goBack();
  await expect.poll(() => texts(page, "deliveries")).toHaveLength(1);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect.poll(() => texts(page, "deliveries")).toHaveLength(50);
  expect(page.url()).toBe(url + path);
});

test("the page is live: alerts appear at once, and waiting deliveries when sent", async () => {
  const { page, deps } = await open(path, withAlerts());
  await expect.poll(() => texts(page, "deliveries")).toHaveLength(4);
  const { alerting } = deps.operations;
  alerting.deliveries = [aDelivery(0, { title: "new failed" }), ...alerting.deliveries];
  deps.operations.setScheduler({ alerts: { open: 3, dead: 1 } });
  await expect.poll(async () => (await texts(page, "deliveries"))[0]).toContain("new failed");
  alerting.deliveries = alerting.deliveries.map((one) => ({ ...one, state: "sent" }));
  deps.operations.emit({ changed: ["alerts"] });
  await expect
    .poll(async () => (await texts(page, "deliveries")).join())
    .not.toMatch(/waiting|dead/);
});

test("the page fits a phone with any text", async () => {
  const width = 375;
  const deps = withAlerts();
  const { alerting } = deps.operations;
  const long = "a-name-without-a-place-to-break".repeat(4);
  alerting.targets = [
    aTarget(long, { state: "off", lastError: long, dead: 12_345, offSince: since }),
  ];
  alerting.open = [
    { agent: long, topic: "credentials", since, count: 99, reason: long, ack: null },
  ];
  alerting.deliveries = [
    aDelivery(1, { target: long, title: long, reason: long, state: "dead", lastError: long }),
  ];
  const { page } = await open(path, deps);
  await page.setViewportSize({ width, height: 800 });
  await expect.poll(() => texts(page, "deliveries")).toHaveLength(1);
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
  await expect.poll(() => page.locator("#targets .pill").isVisible()).toBe(true);
});
