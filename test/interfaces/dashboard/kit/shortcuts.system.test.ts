import { pause } from "../../../helpers/pause.ts";
import type { Page } from "playwright-core";
import { fakeOperations } from "../../../helpers/fake-operations.ts";
import { historyEntry } from "../../../helpers/history-entry.ts";
import { testDeps } from "../../gateway/start-gateway.ts";
import { sharedBrowser } from "../open-page.ts";

const open = sharedBrowser();
const agents = ["billing", "docs", "triage"];
/** With so few agents the table has no filter. */
const many = Array.from({ length: 30 }, (_, index) => `agent-${index}`);

function withAgents(names: readonly string[] = agents) {
  return testDeps({ operations: fakeOperations(names.map((name) => ({ name }))) });
}

/** Each agent ran once; the triggers page, too, lists billing first. */
function withRuns() {
  const deps = withAgents();
  deps.operations.entries.push(
    ...agents.map((agent, index) =>
      historyEntry({
        id: agent,
        agent,
        instanceId: `${agent}-abcdefgh`,
        at: new Date(Date.now() - index * 1_000).toISOString(),
      }),
    ),
  );
  return deps;
}

const path = (page: Page): string => new URL(page.url()).pathname;

test.each([
  ["/dashboard", "#agents"],
  ["/dashboard/triggers", "#trigger-rows"],
])("on %s, j and k go from row to row, and Enter opens the row", async (path, rows) => {
  const { page } = await open(path, withRuns());
  const row = () => page.evaluate(`document.activeElement.closest("tr")?.textContent ?? ""`);
  await expect.poll(() => page.locator(`${rows} tr a`).count()).toBeGreaterThan(2);
  for (const name of ["billing", "docs", "triage", "triage"]) {
    await page.keyboard.press("j");
    await expect.poll(row).toContain(name);
  }
  await page.keyboard.press("k");
  await expect.poll(row).toContain("docs");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/dashboard/agents/docs**");
});

test("the key g and a letter open each page of the dashboard", async () => {
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
  await pause(100, "a letter without g must lead nowhere");
  expect(path(page)).toBe("/dashboard");
});

test("the key / moves to the filter, where keys type letters", async () => {
  const { page, shows } = await open("/dashboard", withAgents(many));
  await shows({ "tr[data-agent]": 30 });
  await page.keyboard.press("/");
  await page.keyboard.type("g?/jk");
  await shows({ "main input[type=search] >> nth=0@value": "g?/jk", "dialog[open]": 0 });
  await page.goto(new URL("/dashboard/cost", page.url()).href);
  await page.keyboard.press("/");
  await shows({ ":focus@role": "combobox" });
});

test.each(["/dashboard", "/dashboard/agents/docs/logs"])(
  "the keys ? and / work on %s",
  async (path) => {
    const { page, shows } = await open(path, withRuns());
    await page.keyboard.press("?");
    await shows({ "dialog[open]": /j\s*Next row/ });
    await page.keyboard.press("Escape");
    await shows({ "dialog[open]": 0 });
    // The browser gives the focus back, and reports the close, after the dialog is gone.
    const slash = () =>
      page.keyboard.press("/").then(() => page.evaluate("document.activeElement.type"));
    await expect.poll(slash).toBe("search");
  },
);

test("single-letter keys can be switched off, and on again without them", async () => {
  const { page, press } = await open("/dashboard", withAgents());
  await page.keyboard.press("?");
  const dialog = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await expect.poll(() => dialog.innerText()).toMatch(/g t\s*Go to Triggers/);
  await page.getByLabel("Keys without Ctrl are on").uncheck();
  await page.keyboard.press("Escape");
  await expect.poll(() => dialog.isVisible()).toBe(false);
  await page.keyboard.press("?");
  await expect.poll(() => dialog.isVisible()).toBe(false);
  await page.getByRole("button", { name: "Keyboard shortcuts and help" }).press("Enter");
  await page.getByLabel("Keys without Ctrl are on").check();
  await press("Close");
  await page.keyboard.press("?");
  await expect.poll(() => dialog.isVisible()).toBe(true);
});
