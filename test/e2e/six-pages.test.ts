import type { BrowserContextOptions, Page } from "playwright-core";
import { openBrowser } from "../helpers/browser.ts";
import { forAll, LiveProject } from "../helpers/live-project.ts";
import { madeDay } from "../helpers/made-day/made-day.ts";
import { failing, failure } from "../helpers/made-day/made-runs.ts";
import { pause } from "../helpers/pause.ts";
import { perFile } from "../helpers/per-test.ts";
import { containing, shows } from "../interfaces/dashboard/shows.ts";

let project: LiveProject;
forAll(async () => {
  project = new LiveProject(await madeDay());
  await project.start({ args: ["--headless"] });
});
const browser = perFile(openBrowser, (one) => one.close());
const desktop = { viewport: { width: 1280, height: 800 } };

/** A logged-in page of a context of its own. */
async function newPage(options: BrowserContextOptions = desktop): Promise<Page> {
  const context = await browser().newContext(options);
  onTestFinished(() => context.close());
  const { url, apiKey } = project.scheduler;
  await context.request.post(`${url}/login`, { data: { key: apiKey } });
  return context.newPage();
}
const open = (page: Page, path: string) => page.goto(`${project.scheduler.dashboardUrl}${path}`);

test("the dashboard's overview links an agent to its page, its latest run, and why it does not run", async () => {
  const page = await newPage();
  await open(page, "");
  const [row, own] = [`tr[data-agent="${failing}"]`, `/dashboard/agents/${failing}`];
  await shows(page, {
    [`${row} .agent-name@href`]: own,
    [`${row} .last-run a@href`]: `${own}/runs/latest`,
    [`${row} .state a@href`]: `${own}?tab=why`,
  });
});

test("one click on a failed run in the dashboard shows when its error first appeared", async () => {
  const page = await newPage();
  await open(page, `/agents/${failing}/runs/latest`);
  await page.getByRole("link", { name: "When did this error first appear?" }).click();
  await page.waitForURL(/order=oldest/);
  await page.locator("main mark").first().waitFor();
  await shows(page, { main: containing(failure) });
});

/** Pages, the rows that they are looked at for, and the most kilobytes of their document on the wire. */
const paints: readonly (readonly [path: string, rows: string, mostKb: number])[] = [
  ["", "#agents tr", 47],
  ["/search?q=error", "#results article", 33],
  ["/triggers", "#trigger-rows tr", 39],
  ["/cost", "#agents tr", 34],
  ["/questions", "#open li, #open-none", 30],
  ["/alerts", "#open tr, #open-none", 32],
  [`/agents/${failing}`, "#run-rows tr", 62],
  [`/agents/${failing}/logs`, "#log .line", 58],
  [`/agents/${failing}/runs/latest`, "#log .line", 62],
];
/** Notes how far what was seen moved. */
const watchPaint = `
  window.paint = { shift: 0, moved: [] };
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries()) {
      paint.shift += value;
      paint.moved.push(...sources.map(({ node }) => node?.id || node?.className || node?.nodeName));
    }
  }).observe({ type: "layout-shift", buffered: true });`;

interface Paint {
  readonly shift: number;
  readonly moved: readonly string[];
}

/** Opens a page as a browser without a cache does; `kb` is its document on the wire. */
async function paintOf(options: BrowserContextOptions, path: string) {
  const page = await newPage(options);
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await page.addInitScript(watchPaint);
  let bytes = 0;
  session.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes ||= encodedDataLength));
  await open(page, path);
  await page.waitForSelector("body[data-connection=live]");
  await pause(500, "the page reads some of it again once it is connected");
  return { ...(await page.evaluate<Paint>("paint")), kb: Math.ceil(bytes / 1000) };
}

test("each dashboard page shows its first rows without JavaScript", async () => {
  const page = await newPage({ javaScriptEnabled: false });
  for (const [path, rows] of paints) {
    const hasRows = async (): Promise<boolean> => {
      await open(page, path);
      return page.locator(rows).first().isVisible();
    };
    // A machine that is too busy for a document leaves it to the browser.
    await expect.poll(hasRows, { message: path }).toBe(true);
  }
});

test.each([
  ["desktop", desktop],
  ["phone", { viewport: { width: 390, height: 844 } }],
])(
  "the first paint of a dashboard page is small and does not move afterwards: %s",
  async (_, screen) => {
    for (const [path, , mostKb] of paints) {
      const faults = async (): Promise<string> => {
        const { shift, moved, kb } = await paintOf(screen, path);
        if (shift > 0.05) return `${path} moves by ${shift}: ${moved.join(" ")}`;
        return kb > mostKb ? `${path} has ${kb} kB` : "none";
      };
      // A machine that is too busy for a document leaves it to the browser, and the page moves.
      await expect.poll(faults).toBe("none");
    }
  },
);
