import { aDelivery } from "../../helpers/fake-alerts.ts";
import { historyEntry } from "../../helpers/history-entry.ts";
import { testDeps } from "../gateway/start-gateway.ts";
import { sharedBrowser } from "./open-page.ts";
import { busyState, instance } from "./page-states.ts";

const open = sharedBrowser();
const paths = [
  "/dashboard",
  "/dashboard/agents/dev",
  "/dashboard/agents/dev/logs",
  "/dashboard/triggers",
  "/dashboard/cost",
  "/dashboard/questions",
  "/dashboard/alerts",
  "/dashboard/search",
];

test("all pages have one header, with links to each page, the project, the search and Pause", async () => {
  const { page, url, errors } = await open("/dashboard", busyState());
  const headers = new Set<string>();
  const changes = `/dashboard/agents/dev/runs/${instance}/changes?to=dev-bbbbbbbb`;
  for (const path of [...paths, changes]) {
    await page.goto(url + path);
    await expect.poll(() => page.locator("#project").innerText()).not.toBe("Almanac");
    await expect.poll(() => page.locator("#connection-text").innerText()).toBe("Live");
    const [search, ways] = [page.locator("header.site form"), page.locator("header.site nav")];
    const names = await ways.locator("a").allInnerTexts();
    const end = await page.locator("header.site .site-end").innerText();
    headers.add(`${await search.ariaSnapshot()} ${names.join(",")} ${end}`);
    expect(await page.locator("main h1").count()).toBe(1);
  }
  const links = /Agents,Search,Triggers,Cost,Questions 6\s+open,Alerts Live/;
  expect([...headers]).toEqual([expect.stringMatching(links)]);
  expect(errors).toEqual([]);
}, 60_000);

test("the pages of an agent show that they belong to the agents", async () => {
  const { page, url } = await open("/dashboard/agents/dev");
  const current = page.locator("nav.pages [aria-current]");
  for (const path of ["", "/logs"]) {
    await page.goto(`${url}/dashboard/agents/dev${path}`);
    expect((await current.innerText()).trim()).toBe("Agents");
    expect(await current.getAttribute("aria-current")).toBe("true");
  }
});

test("the header's search leads to the search page, and a page marks itself in the header", async () => {
  const { page, url } = await open("/dashboard/triggers");
  const current = page.locator("nav [aria-current=page]");
  expect((await current.innerText()).trim()).toBe("Triggers");
  const box = page.getByRole("searchbox", { name: "Search all logs" });
  await box.fill(`"exit 3" & more`);
  await box.press("Enter");
  await page.waitForURL(`${url}/dashboard/search?q=%22exit+3%22+%26+more`);
});

test("after a logout, Back asks for the page again and leads to the login", async () => {
  const { page, url } = await open("/dashboard/cost");
  await page.goto(`${url}/logout`);
  const [answer] = await Promise.all([
    page.waitForResponse(`${url}/dashboard/cost`),
    page.goBack(),
  ]);
  expect(answer.status()).toBe(302);
  expect(await page.title()).toBe("Log in · Almanac");
});

test("no page is wider than a phone", async () => {
  const { page, url } = await open("/dashboard");
  await page.setViewportSize({ width: 375, height: 700 });
  for (const path of paths) {
    await page.goto(url + path);
    await expect.poll(() => page.locator("#connection-text").innerText()).toBe("Live");
    expect(await page.evaluate("document.documentElement.scrollWidth"), path).toBe(375);
    await expect.poll(() => page.locator(".site-search").isVisible()).toBe(false);
    await expect.poll(() => page.getByRole("link", { name: "Search" }).isVisible()).toBe(true);
  }
});

const instanceId = "dev-abcdefgh";
const toRun = `/dashboard/agents/dev/runs/${instanceId}`;

function withRun() {
  const deps = testDeps();
  const at = new Date(Date.now() - 60_000).toISOString();
  deps.operations.entries.push(historyEntry({ id: "a", instanceId, at, durationMs: 30_000 }));
  deps.operations.addLog({ msg: "a file changed" });
  deps.operations.addLog({ msg: "run succeeded", agent: "dev", instanceId });
  deps.operations.alerting.deliveries = [aDelivery(1, { instanceId })];
  deps.logs.write({ agent: "dev", instanceId, msg: "hello" });
  return deps;
}

const lists = {
  "/dashboard": "#activity",
  "/dashboard/agents/dev": "#run-rows",
  "/dashboard/triggers": "#trigger-rows",
  "/dashboard/agents/dev/logs": "#log",
  "/dashboard/alerts": "#deliveries",
};

test("each list of a page links to the page of a run", async () => {
  const { page, url } = await open("/dashboard", withRun());
  for (const [path, list] of Object.entries(lists)) {
    await page.goto(url + path);
    await expect.poll(() => page.locator(`${list} a[href="${toRun}"]`).count()).toBe(1);
  }
});
