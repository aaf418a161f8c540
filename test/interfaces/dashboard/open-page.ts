import { afterAll, beforeAll, onTestFinished } from "vitest";
import type { Browser, Page } from "playwright-core";
import { openBrowser } from "../../helpers/browser.ts";
import { apiKey, startTcp, testDeps } from "../gateway/start-gateway.ts";
import type { TestDeps } from "../gateway/start-gateway.ts";

/** A page of a gateway of its own, in a browser that all tests of a file share. */
export interface OpenedPage {
  readonly page: Page;
  readonly url: string;
  readonly deps: TestDeps;
  /** Errors that the page met. */
  readonly errors: string[];
}

/** Shares one browser between the tests of a file; returns how to open a logged-in page, of a gateway
 * that runs already when `url` is given. */
export function sharedBrowser(): (
  path: string,
  deps?: TestDeps,
  url?: string,
) => Promise<OpenedPage> {
  let browser: Browser | null = null;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
  return async (path, deps = testDeps(), runningAt) => {
    const url = runningAt ?? (await startTcp(deps));
    const context = await browser?.newContext({ viewport: { width: 1280, height: 800 } });
    if (context === undefined) throw new Error("no browser");
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) errors.push(message.text());
    });
    // A login by its page would leave for the private host, where test and page had two addresses.
    await context.request.post(`${url}/login`, { data: { key: apiKey } });
    await page.goto(url + path);
    return { page, url, deps, errors };
  };
}
