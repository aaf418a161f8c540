import { Problem } from "../../../../../src/foundation/errors.ts";
import type { Page } from "playwright-core";
import { fakeOperations } from "../../../../helpers/fake-operations.ts";
import { testDeps } from "../../../gateway/start-gateway.ts";
import { sharedBrowser } from "../../open-page.ts";
import { untilLive } from "../../shows.ts";

const open = sharedBrowser();

function withThirty() {
  const agents = Array.from({ length: 30 }, (_, n) => {
    const tags = [n % 2 === 0 ? "web" : "data"];
    const error =
      n % 10 === 7 ? `exit code ${n}, ${"which is explained at length ".repeat(8)}` : null;
    const state = error === null ? ("idle" as const) : ("error" as const);
    const spentToday = { usd: n % 7, endsAt: "2099-01-01T00:00:00.000Z" };
    return {
      name: `agent-${10 + n}`,
      tags,
      state,
      error,
      spentToday,
      statusText: "done ".repeat(9),
    };
  });
  return testDeps({ operations: fakeOperations(agents) });
}

function shownNames(page: Page): Promise<string[]> {
  return page.locator(".agent-name:visible").allInnerTexts();
}

test("at 1280×800 at least twenty of thirty agents are visible, each reason on one line", async () => {
  const { page, shows } = await open("/dashboard", withThirty());
  await shows({ "tr[data-agent]": 30, "tr.group": ["Failing 3", "OK 27"] });
  const end = async (): Promise<number> => {
    const box = await page.locator("tr[data-agent]").nth(19).boundingBox();
    return (box?.y ?? 900) + (box?.height ?? 0);
  };
  await expect.poll(end).toBeLessThanOrEqual(800);
});

test("thirty agents are at most 3,000 px high on a phone, and a tablet has the table", async () => {
  const { page, shows } = await open("/dashboard", withThirty());
  await page.setViewportSize({ width: 390, height: 844 });
  await shows({ "tr[data-agent]": 30 });
  await expect
    .poll(() => page.evaluate("document.documentElement.scrollHeight"))
    .toBeLessThanOrEqual(3_000);
  await shows({ thead: true });
  await expect
    .poll(async () => (await page.locator("thead").boundingBox())?.height)
    .toBeLessThanOrEqual(1);
  await page.setViewportSize({ width: 768, height: 1024 });
  await expect
    .poll(() => page.getByRole("columnheader", { name: "Last Run" }).isVisible())
    .toBe(true);
  const heights = () =>
    page
      .locator("tr[data-agent]")
      .evaluateAll((rows) => Math.max(...rows.map((row) => row.clientHeight)));
  await expect.poll(heights).toBeLessThan(50);
});

test("a long reason is whole under the pointer and in the row with the focus, and moves no row", async () => {
  const { page, shows } = await open("/dashboard", withThirty());
  const reason = "tr[data-agent=agent-17] .status-text";
  await shows({ [reason]: /^exit code 7, .*at length$/ });
  const isCut = () => page.locator(reason).evaluate((text) => text.scrollWidth > text.clientWidth);
  const height = () => page.locator("#table").evaluate((table) => table.clientHeight);
  const before = await height();
  expect(await isCut()).toBe(true);
  await page.locator(reason).hover();
  await expect.poll(isCut).toBe(false);
  await page.mouse.move(0, 0);
  await expect.poll(isCut).toBe(true);
  await page.getByRole("link", { name: "agent-17", exact: true }).focus();
  await expect.poll(isCut).toBe(false);
  // A row may be half a pixel high.
  expect(Math.abs((await height()) - before)).toBeLessThanOrEqual(1);
});

test("only web addresses in a status become links, which send no referrer", async () => {
  const statusText = "opened https://x.test/pull/7?a=1#b, javascript:alert(1) and (http://y.test).";
  const deps = testDeps({ operations: fakeOperations([{ name: "dev", statusText }]) });
  const { page, shows } = await open("/dashboard", deps);
  const status = page.locator("tr[data-agent=dev] .status-text:visible");
  await shows({ "tr[data-agent=dev] .status-text:visible": statusText });
  const links = await status
    .locator("a")
    .evaluateAll((all) => all.map((link) => [link.getAttribute("href"), link.getAttribute("rel")]));
  const rel = "noopener noreferrer nofollow";
  expect(links).toEqual([
    ["https://x.test/pull/7?a=1#b", rel],
    ["http://y.test", rel],
  ]);
});

test("a figure, a tag and words filter the table, stand in the address, and survive reload and Back", async () => {
  const { page, url, shows, press } = await open("/dashboard", withThirty());
  await page.getByRole("link", { name: "3 failing" }).click();
  await expect.poll(() => shownNames(page)).toEqual(["agent-17", "agent-27", "agent-37"]);
  await page.getByLabel("Tag", { exact: true }).selectOption("data");
  await page.getByLabel("Sort by").selectOption("cost");
  await page.getByRole("searchbox", { name: /^Filter agents/ }).fill("agent 7");
  await page.waitForURL(`${url}/dashboard?q=agent+7&state=error&tag=data&sort=cost`);
  const narrowed = ["agent-37", "agent-27", "agent-17"];
  await expect.poll(() => shownNames(page)).toEqual(narrowed);
  await shows({ "#counts": "3 of 30 agents" });
  await page.reload();
  await expect.poll(() => shownNames(page)).toEqual(narrowed);
  await page.getByRole("link", { name: "agent-27", exact: true }).click();
  await page.waitForURL(`${url}/dashboard/agents/agent-27`);
  await page.goBack();
  await expect.poll(() => shownNames(page)).toEqual(narrowed);
  await page.getByRole("link", { name: "3 failing" }).click();
  await page.getByRole("searchbox", { name: /^Filter agents/ }).fill("nothing");
  await press("Show all");
  await expect.poll(() => shownNames(page)).toHaveLength(30);
  await page.waitForURL(`${url}/dashboard?sort=cost`);
});

test("a column's head sorts by it, and in reverse when pressed again", async () => {
  const { page } = await open("/dashboard?sort=name", withThirty());
  const head = page.getByRole("columnheader", { name: "State" });
  await head.getByRole("button").click();
  await expect
    .poll(async () => (await shownNames(page)).slice(0, 4))
    .toEqual(["agent-17", "agent-27", "agent-37", "agent-10"]);
  await expect.poll(() => head.getAttribute("aria-sort")).toBe("ascending");
  await head.getByRole("button").click();
  await expect.poll(async () => (await shownNames(page)).at(-1)).toBe("agent-37");
  await expect.poll(() => head.getAttribute("aria-sort")).toBe("descending");
});

test("a row that fails is marked in its place, and moves when the reader asks or reloads", async () => {
  const { page, deps, shows } = await open("/dashboard", withThirty());
  await untilLive(page);
  deps.operations.setAgent({ name: "agent-13", state: "error", error: "exit 1" });
  const row = "tr[data-agent=agent-13]";
  await shows({
    [row]: /error exit 1/,
    [`${row}.failing.moved`]: 1,
    "#health a >> nth=0": /^4 failing/,
  });
  expect((await shownNames(page))[6]).toBe("agent-13");
  await page.getByRole("button", { name: "Sort again" }).click();
  await expect.poll(async () => (await shownNames(page))[0]).toBe("agent-13");
  await shows({ "tr.group": ["Failing 4", "OK 26"], ".moved": 0, "#sort-again": false });
});

test("a closed group stays closed in this browser, and a filter finds its agents", async () => {
  const { page, shows } = await open("/dashboard", withThirty());
  await page.getByRole("button", { name: /^OK/ }).click();
  await shows({ "tr[data-agent]": 3 });
  const source = await (await page.request.get(page.url())).text();
  expect(source).not.toContain('data-agent="agent-10"');
  await page.reload();
  await shows({ "tr[data-agent]": 3, "tr.group": ["Failing 3", "OK 27"] });
  await page.getByRole("searchbox", { name: /^Filter agents/ }).fill("agent-10");
  await shows({ "tr[data-agent]": 1 });
  await page.getByRole("searchbox", { name: /^Filter agents/ }).fill("");
  await page.getByRole("button", { name: /^OK/ }).click();
  await shows({ "tr[data-agent]": 30 });
});

test("a bulk action asks once, and skips agents that it does not apply to", async () => {
  const { page, deps, shows, press } = await open("/dashboard?state=error", withThirty());
  const { calls } = deps.operations;
  deps.operations.setAgent({ name: "agent-27", enabled: false });
  await shows({ "tr[data-agent=agent-27]": /disabled/ });
  await page.getByRole("checkbox", { name: "Select all shown agents" }).check();
  await shows({ "#bulk-count": "3 agents selected" });
  await press("Run …");
  const dialog = page.getByRole("dialog", { name: "Run 2 agents?" });
  await expect
    .poll(() => dialog.innerText())
    .toMatch(/agent-17, agent-37[^]*agent-27: Enable the agent first/);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  expect(calls.filter((call) => call.startsWith("trigger"))).toEqual([]);
  await press("Run …");
  await dialog.getByRole("button", { name: "Run" }).click();
  await expect
    .poll(() => calls.filter((call) => call.startsWith("trigger")).sort())
    .toEqual(["trigger agent-17 null", "trigger agent-37 null"]);
  await shows({ "#bulk": false });
});

test("a filter removes hidden agents from the selection, and a rejection is shown with its agent", async () => {
  const { page, deps, shows, press } = await open("/dashboard", withThirty());
  for (const name of ["agent-10", "agent-11"]) await page.getByLabel(`Select ${name}`).check();
  await page.getByRole("searchbox", { name: /^Filter agents/ }).fill("agent-11");
  await shows({ "#bulk-count": "1 agent selected" });
  deps.operations.refusal = new Problem("disabled", "not now");
  await press("Disable …");
  await page.getByRole("dialog").getByRole("button", { name: "Disable" }).click();
  await shows({ ".toast": /agent-11: not now/ });
  expect(deps.operations.calls.filter((call) => call.startsWith("setEnabled"))).toEqual([
    "setEnabled agent-11 false",
  ]);
});

test("of thousands of agents the table has the first, and the filter finds the others", async () => {
  const agents = Array.from({ length: 10_000 }, (_, n) => ({
    name: `agent-${String(n).padStart(4, "0")}`,
  }));
  const deps = testDeps({ operations: fakeOperations(agents) });
  const { page, shows } = await open("/dashboard", deps);
  await shows({ "tr[data-agent]": 500, "#counts": "10,000 agents" });
  const more = page.locator("#more-agents");
  await shows({
    "#more-agents": "These are the first 500 of 10,000 agents. Filter to find the others.",
  });
  await page.locator("#select-all").check();
  await shows({ "#bulk-count": "500 agents selected" });
  await page.locator("#agent-filter").fill("agent-99");
  await shows({ "tr[data-agent]": 100 });
  await expect.poll(() => more.isHidden()).toBe(true);
  deps.operations.setAgent({ name: "agent-9907", statusText: "thinking" });
  await shows({ "tr[data-agent=agent-9907]": /thinking/ });
});
