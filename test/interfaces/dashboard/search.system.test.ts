import type {
  SearchMatch,
  SearchPage,
  SearchQuery,
  SearchRun,
} from "../../../src/features/search/search-report.ts";
import { UserError } from "../../../src/foundation/errors.ts";
import { searchPath } from "../../../src/interfaces/dashboard/pages/search.tsx";
import { testDeps } from "../gateway/start-gateway.ts";
import { sharedBrowser } from "./open-page.ts";

const open = sharedBrowser();
const path = "/dashboard/search";
const attack = `<img src=x onerror="window.hacked=true">`;

function match(more: Partial<SearchMatch> = {}): SearchMatch {
  return {
    position: "dev-2026-11-21.log:4711",
    at: "2026-11-21T12:00:00.000Z",
    kind: "tool-result",
    isError: false,
    before: ["the line before"],
    text: "a needle in it",
    ranges: [[2, 8]],
    after: ["the line after"],
    ...more,
  };
}

function run(more: Partial<SearchRun> = {}): SearchRun {
  return {
    instanceId: "dev-abcdefgh",
    agent: "dev",
    at: "2026-11-21T12:00:00.000Z",
    outcome: "failed",
    usd: 0.0123,
    count: 1,
    matches: [match()],
    ...more,
  };
}

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

test("a search result is a run with its outcome and cost, and its lines with their neighbours", async () => {
  const text = `${attack} ${"x".repeat(500)}`;
  const poisoned = match({ text, ranges: [[0, attack.length]], before: [attack], after: [attack] });
  const hostile = run({ instanceId: "dev-bbbbbbbb", matches: [poisoned], usd: null });
  const { deps } = searching({ runs: [run({ count: 4 }), hostile] });
  const { page, errors } = await open(`${path}?q=needle`, deps);
  const result = page.getByRole("article", { name: "dev-abcdefgh" });
  await expect.poll(() => result.count()).toBe(1);
  const shown = await result.innerText();
  for (const part of ["dev-abcdefgh", "failed", "$0.01", "tool results"])
    expect(shown).toContain(part);
  expect(await result.locator(".match-lines").innerText()).toBe(
    "the line before\na needle in it\nthe line after\n",
  );
  expect(await result.locator("mark").allInnerTexts()).toEqual(["needle"]);
  const address = async (name: string): Promise<string | null> =>
    result.getByRole("link", { name }).first().getAttribute("href");
  expect(await address("dev-abcdefgh")).toBe("/dashboard/agents/dev/runs/dev-abcdefgh");
  expect(await address("2026")).toBe(
    "/dashboard/agents/dev/logs?instance=dev-abcdefgh&at=dev-2026-11-21.log%3A4711&q=needle",
  );
  expect(await address("3 more lines in its log")).toBe(
    "/dashboard/agents/dev/logs?instance=dev-abcdefgh&q=needle",
  );
  expect(await page.locator("#total").innerText()).toBe("2 runs");
  await page.setViewportSize({ width: 375, height: 700 });
  await expect.poll(() => page.locator("mark").last().innerText()).toBe(attack);
  await expect.poll(() => page.locator("#results img").count()).toBe(0);
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(375);
  expect(errors).toEqual([]);
});

test("the search is in the address: reload and Back find it again", async () => {
  const { deps, asked } = searching({ runs: [run()] });
  const { page, url } = await open(path, deps);
  const words = page.getByRole("searchbox", { name: "Words in the log" });
  expect(await page.locator("#none").innerText()).toContain("logs of all agents");
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
  await expect.poll(() => page.locator(".result").count()).toBe(1);
  expect(await words.inputValue()).toBe(`"exit 3" time*`);
  await page.goto(`${url}/dashboard/triggers`);
  await page.goBack();
  await expect.poll(() => page.locator(".result").count()).toBe(1);
  expect(page.url()).toBe(address);
  await page.getByRole("button", { name: "Clear filters" }).click();
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

test("more runs come on demand, and empty pages are skipped", async () => {
  const second = run({ instanceId: "dev-bbbbbbbb", outcome: null, usd: null });
  const { deps, asked } = searching(
    { runs: [run()], next: "a" },
    { runs: [], next: "b" },
    { runs: [second, run({ instanceId: null, agent: "scheduler", outcome: null })], next: null },
  );
  const { page } = await open(`${path}?q=needle`, deps);
  await expect.poll(() => page.locator("#total").innerText()).toBe("1 run so far");
  await page.getByRole("button", { name: "More runs" }).click();
  await expect.poll(() => page.locator("#total").innerText()).toBe("3 runs");
  expect(asked.map(({ before }) => before)).toEqual([undefined, "a", "b"]);
  expect(await page.getByRole("article", { name: "dev-bbbbbbbb" }).innerText()).toContain(
    "running",
  );
  expect(await page.getByRole("article", { name: "scheduler" }).innerText()).toContain("no run");
  expect(await page.getByRole("button", { name: "More runs" }).isVisible()).toBe(false);
});

test("no match, a rejected search and logs that are not indexed yet have their messages", async () => {
  const indexedUntil = "2026-11-20T00:00:00.000Z";
  const { deps, asked } = searching({}, {}, { runs: [run()], indexedUntil });
  const { page, url } = await open(`${path}?q=needle`, deps);
  await expect.poll(() => page.locator("#none").innerText()).toBe("No lines match.");
  await page.goto(`${url}${path}?q=needle&agent=dev`);
  await expect
    .poll(() => page.locator("#none").innerText())
    .toBe("No lines match with these filters.");
  await page.reload();
  await expect
    .poll(() => page.locator("#search-behind").innerText())
    .toContain("still being indexed");
  expect(asked).toHaveLength(3);

  const find = () => Promise.reject(new UserError("bad_search", "the search has no word"));
  const refused = await open(`${path}?q=-`, testDeps({ search: { find } }));
  await expect
    .poll(() => refused.page.getByText("Try again").locator("..").innerText())
    .toBe("the search has no word Try again");
  expect(await refused.page.locator("#none").isVisible()).toBe(false);
});

test("while logs are indexed it shows how far that is, and the lines that were found meanwhile", async () => {
  const indexing = { percent: 42, daysDone: 12, days: 30 };
  const behind = { indexedUntil: null, indexing };
  const { deps } = searching(behind, { ...behind, runs: [run()] }, { runs: [run(), run()] });
  const { page } = await open(`${path}?q=needle`, deps);
  const notice = page.locator("#search-behind");
  await expect
    .poll(() => notice.innerText())
    .toBe(
      "The logs are being indexed: 42 %, the newest 12 of 30 days. Lines that are not indexed yet are not found.",
    );
  expect(await page.locator("#none").innerText()).toBe("Nothing found so far.");
  await expect.poll(() => page.locator(".result").count(), { timeout: 10_000 }).toBe(1);
  await expect.poll(() => page.locator(".result").count(), { timeout: 10_000 }).toBe(2);
  expect(await notice.isVisible()).toBe(false);
}, 30_000);

test("a slow search is shown as running, and a newer one replaces it", async () => {
  let answer: (page: SearchPage) => void = () => undefined;
  const page = (instanceId: string): SearchPage => ({
    runs: [run({ instanceId })],
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
  await opened.page.waitForTimeout(300);
  expect(await opened.page.locator(".result h2").allInnerTexts()).toEqual(["dev-bbbbbbbb"]);
});

test("a page and its server ask the same within a minute", () => {
  const view = { filters: { q: "needle", since: "1h" }, before: "" };
  const at = Date.parse("2026-11-21T12:00:01.234Z");
  expect(searchPath(view, null, at)).toContain("since=2026-11-21T11%3A00%3A00.000Z");
  expect(searchPath(view, null, at + 50_000)).toBe(searchPath(view, null, at));
});
