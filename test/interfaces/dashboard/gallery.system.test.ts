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

const day = String.raw`(?:(?:Sun|Mon|Tue|Wed|Thu|Fri|Sat), )?(?:\w{3} \d{1,2},? )?(?:\d{4},? )?`;
/** What differs from run to run: times, days, seconds and what is due in minutes. */
const volatile: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>"],
  [new RegExp(String.raw`\b${day}\d{1,2}:\d\d(?::\d\d)?\b`, "g"), "<time>"],
  [/\b\d{4}-\d\d-\d\d\b(?!\.log)|\bBy \w{3} \d{1,2}\b/g, "<day>"],
  [/\b(\d+ min) \d\d s\b/g, "$1"],
  [/\b\d+(?:\.\d)? m?s\b/g, "<n> s"],
  [/<n> s ago/g, "now"],
  [/\bin \d+ min\b/g, "in <n> min"],
];
const settled = (content: string): string =>
  volatile.reduce((text, [from, to]) => text.replaceAll(from, to), content);

// `vitest run <this file> -u` records the content anew: each difference is a decision.
test.each(gallery)(
  "the page %s of a project that is %s shows its recorded content, fits a phone, and axe finds nothing",
  async (path, state) => {
    const { page, fits } = await open(path, states[state]());
    await untilLive(page);
    await unfold(page);
    await untilStill(page);
    const marks = await page
      .locator("[aria-current], [title]")
      .evaluateAll((all) =>
        all.map(
          (one) =>
            `# ${one.textContent} ${one.ariaCurrent ?? ""} ${one.getAttribute("title") ?? ""}`,
        ),
      );
    const content = await page.locator("body").ariaSnapshot();
    const shown = settled(`${content}\n${marks.join("\n")}\n`);
    const name = `${state} ${path.replace("/dashboard", "")}`.replaceAll(/[^\w-]+/g, "-");
    await expect(shown).toMatchFileSnapshot(`gallery/${name}.yaml`);
    onTestFinished(() => page.context().setOffline(false));
    await page.context().setOffline(state === "broken");
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
