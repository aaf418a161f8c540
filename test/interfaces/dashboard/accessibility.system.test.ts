import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import type { AxeResults } from "axe-core";
import { sharedBrowser } from "./open-page.ts";
import { brokenState, busyState, emptyState, instance } from "./page-states.ts";

const open = sharedBrowser();
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const agent = "/dashboard/agents/dev";
const run = `${agent}/runs/${instance}`;

/** Pages on which the broken state shows something of its own. */
const breakable = [
  "/dashboard",
  "/dashboard/search?q=bash",
  "/dashboard/alerts",
  agent,
  ...["why", "config", "instructions"].map((tab) => `${agent}?tab=${tab}`),
  `${agent}/logs`,
];
const others = ["triggers", "cost", "questions", "audit", "tokens"].map((at) => `/dashboard/${at}`);
/** Pages of a run; without one they say that it is not known. */
const ofRun = [run, `${run}/changes?to=dev-bbbbbbbb`];

/** What a reader opens on a page; a page where none of it is shown stays as it is. */
const opened = ["details summary", "button[aria-expanded=false]:not(.at)"];

/** Elements of one rule that are named; a page may have hundreds. */
const namedElements = 3;

/**
 * The looks of a page, the rules that can fail in each, and of which elements the colours are looked at: they depend on no
 * width, so a narrow page has only those to look at that a wide one hides.
 */
const looks = [
  { colorScheme: "light", width: 1280, rules: tags, coloured: "*" },
  { colorScheme: "light", width: 375, rules: tags, coloured: "[data-hidden]" },
  { colorScheme: "dark", width: 1280, rules: ["color-contrast"], coloured: "*" },
] as const;

/** Marks what a wide page hides. */
const markHidden = `document.querySelectorAll("body *").forEach((element) => {
  if (!element.checkVisibility()) element.setAttribute("data-hidden", "");
})`;

/** Returns what axe finds on a page in each look: `light 375 rule: elements`. */
async function findings(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe);
  const found: string[] = [];
  await page.evaluate(markHidden);
  for (const { colorScheme, width, rules, coloured } of looks) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    const options = JSON.stringify({ runOnly: rules, resultTypes: ["violations"] });
    const colours = JSON.stringify({ rules: [{ id: "color-contrast", selector: coloured }] });
    const { violations } = await page.evaluate<AxeResults>(
      `axe.configure(${colours}), axe.run(document, ${options})`,
    );
    const lines = violations.map(({ id, nodes }) => {
      const elements = nodes.slice(0, namedElements).map(({ target }) => target.join(" "));
      return `${colorScheme} ${width} ${id}: ${elements.join(" | ")}`;
    });
    found.push(...lines);
  }
  return found;
}

/** Resolves when the page has not changed for a third of a second: its data came. */
const untilStill = `new Promise((resolve) => {
  const still = () => { watch.disconnect(); resolve(); };
  let timer = setTimeout(still, 330);
  const watch = new MutationObserver(() => { clearTimeout(timer); timer = setTimeout(still, 330); });
  watch.observe(document.body, { subtree: true, childList: true });
  setTimeout(still, 2000);
})`;

/** The page as it is once its data came, and with all open that can be. */
async function settled(page: Page, address: string): Promise<void> {
  await page.goto(address);
  if ((await page.locator("#connection").count()) > 0) {
    await page.locator("[data-connection=live], #connection[data-state=live]").first().waitFor();
  }
  await page.evaluate(untilStill);
  let isChanged = false;
  for (const selector of opened) {
    for (const one of (await page.locator(`main ${selector}`).all()).slice(0, 3)) {
      if (!(await one.isVisible())) continue;
      await one.click({ timeout: 2_000 }).catch(() => undefined);
      isChanged = true;
    }
  }
  if (isChanged) await page.evaluate(untilStill);
}

test.each([
  ["empty", emptyState, [...breakable, ...others, ...ofRun.slice(0, 1), "/dashboard/agents/none"]],
  ["busy", () => busyState(), [...breakable, ...others, ...ofRun]],
  ["broken", brokenState, breakable],
] as const)(
  "axe finds nothing on any page: %s",
  async (state, make, pages) => {
    const { page, url } = await open("/dashboard", make());
    const found: Record<string, readonly string[]> = {};
    for (const path of pages) {
      await settled(page, url + path);
      if (state === "broken") await page.context().setOffline(true);
      const lines = await findings(page);
      if (state === "broken") await page.context().setOffline(false);
      if (lines.length > 0) found[path] = lines;
    }
    expect(found).toEqual({});
  },
  180_000,
);

test("axe finds nothing in the answer link of each question, nor in the login", async () => {
  const { page, url, deps } = await open("/dashboard", busyState());
  const found: Record<string, readonly string[]> = {};
  for (const { id, until } of deps.operations.asked) {
    await page.goto(url + deps.answerLinks.pathOf({ id, until: Date.parse(until) }, "ops"));
    const lines = await findings(page);
    if (lines.length > 0) found[`answer link ${id}`] = lines;
  }
  await page.context().clearCookies();
  await page.goto(`${url}/login`);
  expect({ ...found, login: await findings(page) }).toEqual({ login: [] });
}, 60_000);

test("axe finds nothing in the list of keys", async () => {
  const { page } = await open("/dashboard", busyState());
  await page.keyboard.press("?");
  await page.locator("dialog[open]").waitFor();
  await page.evaluate(untilStill);
  expect(await findings(page)).toEqual([]);
}, 60_000);

test("axe finds nothing in the editor of a file, its difference, and a conflict", async () => {
  const { page, deps } = await open(`${agent}?tab=config`, busyState());
  await page.waitForSelector("body[data-connection=live]");
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("button", { name: "Review the change" }).click();
  await page.locator("dialog[open]").waitFor();
  expect(await findings(page)).toEqual([]);
  await page.keyboard.press("Escape");
  const files = deps.operations.shownFiles.files.map((file) => ({ ...file, hash: "other" }));
  deps.operations.shownFiles = { isEditable: true, files };
  deps.operations.addLog({ agent: "dev", msg: "scale 1 → 2" });
  await page.locator("#edit-conflict").waitFor();
  expect(await findings(page)).toEqual([]);
}, 60_000);
