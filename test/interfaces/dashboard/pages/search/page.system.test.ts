import type { SearchPage, SearchQuery } from "../../../../../src/features/search/search-report.ts";
import { searchPath } from "../../../../../src/interfaces/dashboard/pages/search/page.tsx";
import { pause } from "../../../../helpers/pause.ts";
import { testDeps } from "../../../gateway/start-gateway.ts";
import { sharedBrowser } from "../../open-page.ts";
import { aFoundRun } from "../../found-runs.ts";

const open = sharedBrowser();
const path = "/dashboard/search";

/** A search that answers with these pages in turn, the last one again and again. */
function searching(...pages: readonly Partial<SearchPage>[]) {
  const asked: SearchQuery[] = [];
  const find = (query: SearchQuery): Promise<SearchPage> => {
    const page = pages[Math.min(asked.length, pages.length - 1)];
    asked.push(query);
    const indexedUntil = new Date().toISOString();
    return Promise.resolve(
      Object.assign({ runs: [], next: null, indexedUntil, indexing: null }, page),
    );
  };
  return { asked, deps: testDeps({ search: { find } }) };
}

test("the address holds the search: reload and Back find it again", async () => {
  const { deps, asked } = searching({ runs: [aFoundRun()] });
  const { page, url, shows, press } = await open(path, deps);
  const words = page.getByRole("searchbox", { name: "Words in the log" });
  await shows({ "#none": /logs of all agents/ });
  expect(asked).toEqual([]);
  await words.fill(`"exit 3" time*`);
  await words.press("Enter");
  await page.getByLabel("Outcome").selectOption("failed");
  await page.getByLabel("Lines").selectOption("error");
  await page.getByLabel("Order").selectOption("oldest");
  await page.getByLabel("Agent", { exact: true }).fill("dev");
  await page.getByLabel("Agent", { exact: true }).press("Enter");
  const expected = {
    q: `"exit 3" time*`,
    outcome: "failed",
    kind: "error",
    order: "oldest",
    limit: 20,
    agent: "dev",
  };
  await expect.poll(() => asked.at(-1)).toEqual(expected);
  await expect
    .poll(() => page.url())
    .toContain("q=%22exit+3%22+time*&agent=dev&outcome=failed&kind=error&order=oldest");
  const address = page.url();
  await page.reload();
  await shows({ ".result": 1 });
  await expect.poll(() => words.inputValue()).toBe(`"exit 3" time*`);
  await page.goto(`${url}/dashboard/triggers`);
  await page.goBack();
  await shows({ ".result": 1 });
  await expect.poll(() => page.url()).toBe(address);
  await press("Clear filters");
  await expect
    .poll(() => asked.at(-1))
    .toEqual({ q: `"exit 3" time*`, order: "newest", limit: 20 });
});

test("a link to the search may begin at a duration ago, such as 24h, or at a date", async () => {
  const { deps, asked } = searching({});
  const { page } = await open(`${path}?q=a&since=24h`, deps);
  await expect.poll(() => asked.length).toBe(1);
  const ago = Date.now() - Date.parse(asked[0]?.since ?? "");
  expect(Math.abs(ago - 86_400_000)).toBeLessThan(120_000);
  await page.goto(page.url().replace("24h", "2026-11-20T00:00:00Z"));
  await expect.poll(() => asked.at(-1)?.since).toBe("2026-11-20T00:00:00Z");
  await expect.poll(() => page.getByLabel("Time").inputValue()).toBe("2026-11-20T00:00:00Z");
});

test("the search page loads more runs on demand, and skips empty pages", async () => {
  const second = aFoundRun({ instanceId: "dev-bbbbbbbb", outcome: null, usd: null });
  const { deps, asked } = searching(
    { runs: [aFoundRun()], next: "a" },
    { runs: [], next: "b" },
    {
      runs: [second, aFoundRun({ instanceId: null, agent: "scheduler", outcome: null })],
      next: null,
    },
  );
  const { shows, press } = await open(`${path}?q=needle`, deps);
  await shows({ "#total": "1 run so far" });
  await press("More runs");
  await shows({ "#total": "3 runs" });
  expect(asked.map(({ before }) => before)).toEqual([undefined, "a", "b"]);
  await shows({
    ".result": [/dev-abcdefgh/, /dev-bbbbbbbb dev running/, /Scheduler log/],
    "button:text-is('More runs')": false,
  });
});

test("while logs are indexed the search page shows how far that is, and the lines found meanwhile", async () => {
  const indexing = { percent: 42, daysDone: 12, days: 30 };
  const behind = { indexedUntil: null, indexing };
  const { deps } = searching(
    behind,
    { ...behind, runs: [aFoundRun()] },
    { runs: [aFoundRun(), aFoundRun()] },
  );
  const { shows } = await open(`${path}?q=needle`, deps);
  await shows({
    "#search-behind":
      "The logs are being indexed: 42 %, the newest 12 of 30 days. Lines that are not indexed yet are not found.",
    "#none": "Nothing found so far.",
    ".result": 1,
  });
  await shows({ ".result": 2, "#search-behind": false });
});

test("a slow search is shown as running, and a newer one replaces it", async () => {
  let answer: (page: SearchPage) => void = () => undefined;
  const page = (instanceId: string): SearchPage => ({
    runs: [aFoundRun({ instanceId })],
    next: null,
    indexedUntil: null,
    indexing: null,
  });
  const find = ({ q }: SearchQuery): Promise<SearchPage> =>
    q === "slow"
      ? new Promise((resolve) => (answer = resolve))
      : Promise.resolve(page("dev-bbbbbbbb"));
  const opened = await open(`${path}?q=slow`, testDeps({ search: { find } }));
  await expect.poll(() => opened.page.locator("#none").innerText()).toBe("Searching …");
  await opened.page.getByLabel("Words in the log").fill("fast");
  await opened.page.getByLabel("Words in the log").press("Enter");
  await expect.poll(() => opened.page.locator(".result").count()).toBe(1);
  answer(page("dev-aaaaaaaa"));
  await pause(300, "the answer to the older search must not replace the newer one's");
  await expect
    .poll(() => opened.page.locator(".result h2").allInnerTexts())
    .toEqual(["dev-bbbbbbbb"]);
});

test("searchPath returns the same address within a minute", () => {
  const view = { filters: { q: "needle", since: "1h" }, before: "" };
  const at = Date.parse("2026-11-21T12:00:01.234Z");
  expect(searchPath(view, null, at)).toContain("since=2026-11-21T11%3A00%3A00.000Z");
  expect(searchPath(view, null, at + 50_000)).toBe(searchPath(view, null, at));
});
