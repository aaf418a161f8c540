import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { fakeOperations } from "../../helpers/fake-operations.ts";
import { historyEntry } from "../../helpers/history-entry.ts";
import { testDeps } from "../gateway/start-gateway.ts";
import { sharedBrowser } from "./open-page.ts";

const open = sharedBrowser();
const agents = ["billing", "docs", "triage"];
/** With so few agents the table has no filter. */
const many = Array.from({ length: 30 }, (_, index) => `agent-${index}`);

function withAgents(names: readonly string[] = agents) {
  return testDeps({ operations: fakeOperations(names.map((name) => ({ name }))) });
}

const focused = (page: Page): Promise<string> =>
  page.evaluate("document.activeElement.textContent.trim()");
const path = (page: Page): string => new URL(page.url()).pathname;

test("j and k go from row to row, and Enter opens the agent", async () => {
  const { page } = await open("/dashboard", withAgents());
  await expect.poll(() => page.locator("#agents tr").count()).toBe(3);
  await page.locator("#agents tr").first().locator("a").first().waitFor();
  for (const name of ["billing", "docs", "triage", "triage"]) {
    await page.keyboard.press("j");
    expect(await focused(page)).toBe(name);
  }
  await page.keyboard.press("k");
  expect(await focused(page)).toBe("docs");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/dashboard/agents/docs**");
});

test("g and a letter go to each page, from each page", async () => {
  const { page } = await open("/dashboard", withAgents());
  for (const [letter, where] of Object.entries({
    t: "/dashboard/triggers",
    c: "/dashboard/cost",
    l: "/dashboard/alerts",
    a: "/dashboard",
  })) {
    await page.keyboard.press("g");
    await page.keyboard.press(letter);
    await page.waitForURL((url) => url.pathname === where);
  }
  await page.keyboard.press("t");
  await page.waitForTimeout(100);
  expect(path(page)).toBe("/dashboard");
});

test("a slash leads to the filter, and keys are letters there", async () => {
  const { page } = await open("/dashboard", withAgents(many));
  await expect.poll(() => page.locator("#agents tr").count()).toBe(30);
  await page.keyboard.press("/");
  await page.keyboard.type("g?/jk");
  const filter = page.locator("main input[type=search]").first();
  expect(await filter.inputValue()).toBe("g?/jk");
  expect(await page.locator("dialog[open]").count()).toBe(0);
  await page.goto(new URL("/dashboard/cost", page.url()).href);
  await page.keyboard.press("/");
  expect(await page.evaluate("document.activeElement.id")).toBe("site-search");
});

test("? lists the keys; letters can be switched off, and on again without them", async () => {
  const { page } = await open("/dashboard/triggers", withAgents());
  await page.keyboard.press("?");
  const dialog = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  expect(await dialog.innerText()).toMatch(/g t\s*Go to Triggers/);
  await page.getByLabel("Keys without Ctrl are on").uncheck();
  await page.keyboard.press("Escape");
  expect(await dialog.isVisible()).toBe(false);
  await page.keyboard.press("?");
  expect(await dialog.isVisible()).toBe(false);
  await page.keyboard.press("Tab");
  await page.locator("#shortcuts").focus();
  await page.keyboard.press("Enter");
  await page.getByLabel("Keys without Ctrl are on").check();
  await page.getByRole("button", { name: "Close" }).click();
  await page.keyboard.press("?");
  expect(await dialog.isVisible()).toBe(true);
});

test("Ctrl+K jumps to an agent, to a page, to a run and to the search", async () => {
  const deps = withAgents();
  deps.operations.entries.push(
    historyEntry({ id: "1", agent: "docs", instanceId: "docs-k3v9q2xa" }),
  );
  const { page } = await open("/dashboard", deps);
  const jumpTo = async (text: string, where: string): Promise<void> => {
    await page.keyboard.press("Control+k");
    await page.keyboard.type(text);
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.pathname + url.search === where);
  };
  await page.keyboard.press("Control+k");
  await page.keyboard.type("x");
  await page.keyboard.press("Escape");
  expect(await page.locator("dialog[open]").count()).toBe(0);
  await jumpTo("trig", "/dashboard/triggers");
  await jumpTo("triage", "/dashboard/agents/triage");
  await jumpTo("k3v9", "/dashboard/agents/docs/runs/docs-k3v9q2xa");
  await page.goto(new URL("/dashboard/alerts", page.url()).href);
  await jumpTo("billing-k3v9q2xb", "/dashboard/agents/billing/runs/billing-k3v9q2xb");
  await page.goto(new URL("/dashboard/alerts", page.url()).href);
  await jumpTo("disk full", "/dashboard/search?q=disk%20full");
});
