import { pause } from "../../../helpers/pause.ts";
import type { Page } from "playwright-core";
import { Observable } from "rxjs";
import type { StatusUpdate } from "../../../../streams/status/wire.ts";
import { createGateway } from "../../../../src/interfaces/gateway/server.ts";
import { startTcp, testDeps } from "../../gateway/start-gateway.ts";
import { sharedBrowser } from "../open-page.ts";
import { untilLive } from "../shows.ts";

const open = sharedBrowser({ isFresh: true });
const logPath = "/dashboard/agents/dev/logs";

/** Dependencies that count how many status streams are open, and have ended. */
function countingDeps() {
  const deps = testDeps();
  const { update$ } = deps.operations;
  const counter = { open: 0, ended: 0 };
  const counted$ = new Observable<StatusUpdate>((subscriber) => {
    counter.open += 1;
    subscriber.add(() => {
      counter.open -= 1;
      counter.ended += 1;
    });
    subscriber.add(update$.subscribe(subscriber));
  });
  Object.assign(deps.operations, { update$: counted$ });
  return { deps, counter };
}

/** A test browser calls every page visible; this lets a test say otherwise, from the next page on. */
async function letHide(page: Page): Promise<void> {
  await page.context().addInitScript(`
    window.isHidden = new URLSearchParams(location.search).has("behind");
    Object.defineProperty(document, "visibilityState", {
      get: () => (window.isHidden ? "hidden" : "visible") });`);
}

async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(
    `window.isHidden = ${isHidden}; document.dispatchEvent(new Event("visibilitychange"));`,
  );
}

function rowText(page: Page): Promise<string> {
  return page.locator("tr[data-agent=dev]").innerText();
}

test("ten tabs stay live, because hidden ones release their stream and catch up when shown", async () => {
  const { page: first, url, deps } = await open("/dashboard");
  await letHide(first);
  await first.reload();
  const tabs = [first];
  while (tabs.length < 10) {
    await setHidden(tabs.at(-1) ?? first, true);
    const tab = await first.context().newPage();
    await tab.goto(`${url}/dashboard`);
    // An origin has six connections: the seventh tab would wait for ever if the others kept theirs.
    await untilLive(tab);
    tabs.push(tab);
  }
  deps.operations.setAgent({ name: "dev", statusText: "while nobody looked" });
  for (const [index, tab] of tabs.entries()) {
    for (const other of tabs) await setHidden(other, other !== tab);
    const message = `tab ${index}`;
    await expect.poll(() => rowText(tab), { message }).toContain("while nobody looked");
  }
  const last = tabs.at(-1) ?? first;
  deps.operations.setAgent({ name: "dev", statusText: "and live again" });
  await expect.poll(() => rowText(last)).toContain("and live again");
});

test("a tab opened in the background takes no stream until it is shown", async () => {
  const { deps, counter } = countingDeps();
  const { page, url } = await open("/dashboard", deps);
  await expect.poll(() => counter.open).toBe(1);
  await letHide(page);
  const behind = await page.context().newPage();
  await behind.goto(`${url}/dashboard?behind`);
  await pause(500, "a tab in the background must not connect");
  await expect.poll(() => behind.locator("#connection-text").innerText()).toBe("Connecting");
  deps.operations.setAgent({ name: "dev", statusText: "behind" });
  await setHidden(behind, false);
  await expect.poll(() => rowText(behind)).toContain("behind");
});

test("leaving a page ends its stream, returning opens it again", async () => {
  const { deps, counter } = countingDeps();
  const { page, url, shows } = await open("/dashboard", deps);
  await expect.poll(() => counter.open).toBe(1);
  await page.goto(url + logPath);
  // The page of a log opens its own, perhaps at once.
  await expect.poll(() => counter.ended).toBe(1);
  await page.goBack();
  await expect.poll(() => counter.open).toBe(1);
  deps.operations.setAgent({ name: "dev", statusText: "seen after going back" });
  await expect.poll(() => rowText(page)).toContain("seen after going back");
  await page.goForward();
  await shows({ "#connection-text": "Live" });
});

test("a page restored from the browser's cache opens its stream again", async () => {
  const { deps, counter } = countingDeps();
  const { page } = await open("/dashboard", deps);
  await expect.poll(() => counter.open).toBe(1);
  await page.evaluate(`dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }))`);
  await expect.poll(() => counter.open).toBe(0);
  deps.operations.setAgent({ name: "dev", statusText: "meanwhile" });
  await page.evaluate(`dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))`);
  await expect.poll(() => rowText(page)).toContain("meanwhile");
});

test("a page without a network says so at once, turns its panels grey, and continues when it is back", async () => {
  const { page, deps, shows } = await open("/dashboard");
  await untilLive(page);
  await page.context().setOffline(true);
  await page.waitForSelector("body[data-connection=lost]");
  await shows({ "#lost": /not answered since \d\d:\d\d:\d\d/, "#connection": "Not connected" });
  await expect
    .poll(() => page.evaluate(`getComputedStyle(document.querySelector(".panel")).filter`))
    .toBe("grayscale(1)");
  await page.context().setOffline(false);
  deps.operations.setAgent({ name: "dev", statusText: "back" });
  await expect.poll(() => rowText(page)).toContain("back");
  await shows({ "#lost": false });
});

test("a hanging scheduler is noticed, although its connection stays open", async () => {
  const { page, shows } = await open("/dashboard");
  await page.clock.install();
  // A test can't reach into the worker that pages share.
  await page.addInitScript("delete window.SharedWorker");
  await page.reload();
  await untilLive(page);
  const probed = "**/dashboard/api/scheduler";
  await page.route(probed, (route) => route.fulfill({ status: 404 }));
  const answered = page.waitForResponse(probed);
  // Silence is noticed at the second look; each look waits for its answer by the same clock.
  for (let look = 0; look < 2; look++) await page.clock.fastForward(20_000);
  await answered;
  await shows({ "#connection": "Live" });
  for (const path of [probed, "**/status-stream*"]) {
    await page.route(path, (route) => route.abort());
  }
  await page.clock.fastForward(60_000);
  await page.waitForSelector("body[data-connection=lost]");
  await page.unrouteAll();
  await page.clock.fastForward(10_000);
  await untilLive(page);
});

test("a log neither loses nor repeats lines, over a hidden tab and a restart of the gateway", async () => {
  const deps = testDeps();
  let line = 0;
  const write = (count: number): void => {
    const last = line + count;
    for (; line < last; line++) deps.logs.write({ agent: "dev", msg: `<${line}>` });
  };
  write(150);
  const first = createGateway(deps);
  const url = (await first.listenTcp()).replace("localhost", "127.0.0.1");
  const { page, shows } = await open(logPath, deps, url);
  await letHide(page);
  await page.reload();
  const texts = () => page.locator("#log .text").allInnerTexts();
  await expect.poll(async () => (await texts()).length).toBe(100);

  await setHidden(page, true);
  await pause(2_500, "a hidden tab releases its stream only after a while");
  write(130);
  await setHidden(page, false);
  await expect.poll(async () => (await texts()).length).toBe(230);

  write(10);
  await first.close();
  write(10);
  await shows({ "#connection-text": "Not connected" });
  write(10);
  await startTcp({ ...deps, port: Number(new URL(url).port) });
  await expect.poll(async () => (await texts()).length).toBe(260);
  write(5);
  await expect.poll(async () => (await texts()).length).toBe(265);
  const expected = Array.from({ length: 265 }, (_, index) => `<${index + 50}>`);
  await shows({ "#log .text": expected });
});

const icon = (page: Page) => page.locator("link[rel=icon]").getAttribute("href");

test("the count in the title follows at once while the page is visible", async () => {
  const { page, deps } = await open("/dashboard");
  await untilLive(page);
  const calm = await icon(page);
  const link = page.getByRole("link", { name: /^Alerts/ });
  await expect.poll(() => link.innerText()).toBe("Alerts");
  deps.operations.setScheduler({ alerts: { open: 1_234, dead: 0 } });
  await expect.poll(() => page.title()).toBe("(1234) hello · Almanac");
  await expect.poll(() => link.innerText()).toMatch(/^Alerts\s+1,234/);
  await expect.poll(() => icon(page)).not.toBe(calm);
  deps.operations.setScheduler({ alerts: { open: 0, dead: 0 } });
  await expect.poll(() => page.title()).toBe("hello · Almanac");
  await expect.poll(() => icon(page)).toBe(calm);
});

test("a hidden tab, which has no stream, asks once a minute", async () => {
  const { page, deps, url } = await open("/dashboard");
  await page.clock.install();
  await letHide(page);
  await page.reload();
  await untilLive(page);
  await setHidden(page, true);
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
  await pause(200, "a hidden tab must not leave for the login");
  expect([page.url(), await page.title()]).toEqual([`${url}/dashboard`, "(2) hello · Almanac"]);
});
