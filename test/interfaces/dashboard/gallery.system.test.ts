import type { Page } from "playwright-core";
import { axeFindings } from "./axe.ts";
import { sharedBrowser } from "./open-page.ts";
import { agent, gallery } from "./gallery.ts";
import { busyState } from "./page-states.ts";
import { states } from "./states.ts";
import { untilLive } from "./shows.ts";

const open = sharedBrowser();
/** Opens what a reader can open on a page, up to three of each kind. */
async function unfold(page: Page): Promise<void> {
  for (const selector of [
    "details summary",
    "button[aria-expanded=false]:not(.at, .icon-button)",
  ]) {
    for (const one of (await page.locator(`main ${selector}`).all()).slice(0, 3)) {
      if (await one.isVisible()) await one.click();
    }
  }
}

/** Waits until two looks in a row find the same page. */
async function untilStill(page: Page): Promise<void> {
  let last = "";
  const isStill = async () => {
    const before = last;
    last = await page.content();
    return last === before;
  };
  await expect.poll(isStill).toBe(true);
}

test.each(gallery)(
  "the page %s of a project that is %s shows it, fits a phone, and axe finds nothing",
  async (path, state, shown) => {
    const { page, shows, fits } = await open(path, states[state]());
    await shows({
      "#connection-text, #connection[data-state]": /Live/,
      "main h1": 1,
      "nav.pages a:not(.brand)": 8,
      "header.site #project": "hello",
      ...shown,
    });
    onTestFinished(() => page.context().setOffline(false));
    await page.context().setOffline(state === "broken");
    await unfold(page);
    // The name of a group covers rows that scroll below it.
    await page.evaluate("scrollTo(0, 0)");
    await untilStill(page);
    expect(await axeFindings(page)).toEqual([]);
    await fits(360);
  },
);

test("axe finds nothing on the login, nor on an answer link of any form", async () => {
  const { page, url, deps } = await open("/dashboard/cost", busyState());
  const findings: Record<string, readonly string[]> = {};
  for (const { id, until } of deps.operations.asked) {
    await page.goto(url + deps.answerLinks.pathOf({ id, until: Date.parse(until) }, "ops"));
    findings[id] = await axeFindings(page);
  }
  await page.context().clearCookies();
  await page.goto(`${url}/login`);
  findings.login = await axeFindings(page);
  expect(Object.entries(findings).filter(([, found]) => found.length > 0)).toEqual([]);
});

test("axe finds nothing in the list of keys", async () => {
  const { page } = await open("/dashboard", busyState());
  await page.keyboard.press("?");
  await page.locator("dialog[open]").waitFor();
  await untilStill(page);
  expect(await axeFindings(page)).toEqual([]);
});

test("axe finds nothing in the difference of an edit, nor in its conflict with the disk", async () => {
  const { page, deps, press } = await open(`${agent}?tab=config`, busyState());
  await untilLive(page);
  await press("Edit");
  await press("Review the change");
  await page.locator("dialog[open]").waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.keyboard.press("Escape");
  const files = deps.operations.shownFiles.files.map((file) => ({ ...file, hash: "other" }));
  deps.operations.shownFiles = { isEditable: true, files };
  deps.operations.addLog({ agent: "dev", msg: "scale 1 → 2" });
  await page.locator("#edit-conflict").waitFor();
  expect(await axeFindings(page)).toEqual([]);
});
