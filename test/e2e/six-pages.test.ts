import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { openBrowser } from "../helpers/browser.ts";
import { slow } from "../helpers/made-day/agents.ts";
import { startLiveDay, unwilling } from "../helpers/made-day/live-day.ts";
import { failing, failure } from "../helpers/made-day/made-runs.ts";
import { forAll } from "../helpers/live-project.ts";
import { pause } from "../helpers/pause.ts";
import type { TestScheduler } from "../helpers/scheduler.ts";

let scheduler: TestScheduler;
let browser: Browser;

forAll(async () => {
  [{ scheduler }, browser] = await Promise.all([startLiveDay(), openBrowser()]);
});
afterAll(() => browser.close());

/** The row of an agent in the overview. */
async function rowOf(agent: string): Promise<{ page: Page; row: ReturnType<Page["locator"]> }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(scheduler.dashboardUrl);
  await page.getByLabel("API key").fill(scheduler.apiKey);
  await page.getByRole("button", { name: "Log in" }).click();
  const row = page.locator("tbody tr", {
    has: page.getByRole("link", { name: agent, exact: true }),
  });
  await row.waitFor();
  return { page, row };
}

const patience = { timeout: 20_000 };

test("one click shows what an agent is doing", async () => {
  const { page, row } = await rowOf(slow);
  await expect.poll(() => row.innerText(), patience).toContain("waiting for the health checks");
  await row.getByRole("link", { name: "log" }).click();
  await page
    .getByText(/check \d+: not yet/)
    .first()
    .waitFor(patience);
});

test("one click shows why an agent didn't run", async () => {
  const { page, row } = await rowOf(unwilling);
  await row.getByRole("link", { name: /: why .* did not run$/ }).click();
  await page
    .getByText(/actions?: wants opened/)
    .first()
    .waitFor(patience);
});

test("one click shows what a run returned", async () => {
  const { page, row } = await rowOf("report-web");
  await row.getByRole("link", { name: /ago$/ }).click();
  const result = page.locator("section", { has: page.getByRole("heading", { name: "Result" }) });
  await expect.poll(() => result.innerText(), patience).toMatch(/"summary": "Report \d+ of web/);
});

test("one click shows what an agent's runs cost", async () => {
  const { page, row } = await rowOf(failing);
  await row.getByRole("link", { name: failing, exact: true }).click();
  const cost = page.locator("section", { has: page.getByRole("heading", { name: "Cost" }) });
  await expect.poll(() => cost.innerText(), patience).toMatch(/This month\s+\$\d+\.\d\d/);
});

test("one click shows what changed since an agent's last success", async () => {
  const { page, row } = await rowOf(failing);
  await row.getByRole("link", { name: /ago$/ }).click();
  const since = page.locator("#since");
  await expect.poll(() => since.innerText(), patience).toContain('"host": "ledger-old.acme.test"');
});

test("one click shows when an error first appeared", async () => {
  const { page } = await rowOf(failing);
  await page.goto(`${scheduler.dashboardUrl}/agents/${failing}/runs/latest`);
  await page.getByRole("link", { name: "When did this error first appear?" }).click();
  const first = page.locator("main mark").first();
  await first.waitFor(patience);
  expect(page.url()).toContain("order=oldest");
  await expect.poll(() => page.locator("main").innerText()).toContain(failure);
});

/** Pages, the rows that they are looked at for, and the most kilobytes of their document on the wire. */
const paints: readonly (readonly [path: string, rows: string, mostKb: number])[] = [
  ["", "#agents tr", 44],
  ["/search?q=error", "#results article", 40],
  ["/triggers", "#trigger-rows tr", 40],
  ["/cost", "#agents tr", 32],
  ["/questions", "#open li, #open-none", 32],
  ["/alerts", "#open tr, #open-none", 32],
  [`/agents/${failing}`, "#run-rows tr", 60],
  [`/agents/${failing}/logs`, "#log .line", 60],
  [`/agents/${failing}/runs/latest`, "#log .line", 60],
];
const screens = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
/** 1.6 Mbit/s. At 60 kB a document takes 300 ms, after 300 ms until its first byte. */
const slow4G = {
  offline: false,
  downloadThroughput: 200_000,
  uploadThroughput: 90_000,
  latency: 150,
};

/** Notes how far what was seen moved, and when the rows were on the screen, in ms. */
const watchPaint = (rows: string) => `
  window.paint = { shift: 0, moved: [], rowsAt: null };
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries()) {
      paint.shift += value;
      paint.moved.push(...sources.map(({ node }) => node?.id || node?.className || node?.nodeName));
    }
  }).observe({ type: "layout-shift", buffered: true });
  (function look() {
    const isThere = document.querySelector(${JSON.stringify(rows)})?.getClientRects().length > 0;
    requestAnimationFrame(isThere ? () => { paint.rowsAt = performance.now(); } : look);
  })();`;

interface Paint {
  readonly shift: number;
  readonly moved: readonly string[];
  readonly rowsAt: number | null;
}

/** Opens a page as a browser without a cache does; `kb` is its document on the wire. */
async function paintOf(context: BrowserContext, row: (typeof paints)[number], isSlow = false) {
  const [path, rows] = row;
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  if (isSlow) await session.send("Network.emulateNetworkConditions", slow4G);
  await page.addInitScript(watchPaint(rows));
  let bytes = 0;
  session.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes ||= encodedDataLength));
  await page.goto(`${scheduler.dashboardUrl}${path}`, { waitUntil: "load" });
  await page.waitForSelector("body[data-connection=live]", patience);
  await pause(500, "what the page reads again once it is connected must not move it");
  const paint = await page.evaluate<Paint>("paint");
  await page.close();
  return { ...paint, kb: Math.ceil(bytes / 1000) };
}

async function loggedIn(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  await context.request.post(`${scheduler.url}/login`, { data: { key: scheduler.apiKey } });
  return context;
}

test("the first paint of each page has its first rows, without a script", async () => {
  const page = await (await loggedIn({ javaScriptEnabled: false })).newPage();
  for (const [path, rows] of paints) {
    const hasRows = async (): Promise<boolean> => {
      await page.goto(`${scheduler.dashboardUrl}${path}`);
      return page.locator(rows).first().isVisible();
    };
    // A machine that is too busy for a document leaves it to the browser.
    await expect.poll(hasRows, { ...patience, message: path }).toBe(true);
  }
});

test.each(Object.entries(screens))(
  "the first paint of each page does not move afterwards, and is small: %s",
  async (_screen, viewport) => {
    const context = await loggedIn({ viewport });
    for (const row of paints) {
      const [path, , mostKb] = row;
      const { shift, moved, kb } = await paintOf(context, row);
      expect(shift, `${path}: ${moved.join(" ")}`).toBeLessThanOrEqual(0.05);
      expect(kb, path).toBeLessThanOrEqual(mostKb);
    }
  },
  60_000,
);

test("the first paint of the overview has its rows soon on slow 4G", async () => {
  const { rowsAt } = await paintOf(await loggedIn(), ["", "#agents tr", 44], true);
  expect(rowsAt).toBeLessThan(5_000);
}, 60_000);
