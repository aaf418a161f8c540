import type { Browser, Page } from "playwright-core";
import { openBrowser } from "../../helpers/browser.ts";
import { perFile } from "../../helpers/per-test.ts";
import { apiKey, startTcp, testDeps, type TestDeps } from "../gateway/start-gateway.ts";
import { shows, type Shown } from "./shows.ts";

/** A page of a gateway of its own, in a browser that all tests of a file share. */
export interface OpenedPage {
  readonly page: Page;
  readonly url: string;
  readonly deps: TestDeps;
  /** Waits until the page shows this. */
  readonly shows: (expected: Shown) => Promise<void>;
  /** Clicks the button of this name. */
  readonly press: (name: string | RegExp) => Promise<void>;
  /** Makes the window this wide, and waits until the page needs no more. */
  readonly fits: (width: number) => Promise<void>;
  /** Waits until an operation was called like this. */
  readonly called: (call: string) => Promise<void>;
  /** Waits until the calls that match are exactly these. */
  readonly calledOnly: (which: RegExp, calls: readonly unknown[]) => Promise<void>;
}

/** A tab, and the errors that its pages met. */
interface Tab {
  readonly page: Page;
  readonly errors: string[];
}

/**
 * Shares one browser, and mostly one tab, between the tests of a file; returns how to open a logged-in page, of a gateway
 * that runs already if `url` is given. `isFresh` gives each test a tab of its own, for tests that change how a tab works.
 */
export function sharedBrowser({ isFresh = false } = {}): (
  path: string,
  deps?: TestDeps,
  url?: string,
) => Promise<OpenedPage> {
  const browser = perFile(openBrowser, (one) => one.close());
  let free: Tab | null = null;
  return async (path, deps = testDeps(), runningAt) => {
    const url = runningAt ?? (await startTcp(deps));
    const tab = free ?? (await openTab(browser()));
    const { page, errors } = tab;
    free = null;
    onTestFinished(async () => {
      if (isFresh || free !== null) await page.context().close();
      else free = tab;
    });
    errors.length = 0;
    // Where the policy had to step in, a text was taken for markup.
    onTestFinished(() => expect(errors, "errors of the page").toEqual([]));
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.mouse.move(0, 0);
    // A login by its page would leave for the private host, where test and page had two addresses.
    await page.context().request.post(`${url}/login`, { data: { key: apiKey } });
    await page.goto(url + path);
    const { calls } = deps.operations;
    return {
      page,
      url,
      deps,
      shows: (expected) => shows(page, expected),
      press: (name) => page.getByRole("button", { name }).click(),
      fits: async (width) => {
        await page.setViewportSize({ width, height: 700 });
        const needed = () => page.evaluate("document.documentElement.scrollWidth");
        await expect.poll(needed).toBe(width);
      },
      called: (call) => expect.poll(() => calls).toContain(call),
      calledOnly: (which, expected) =>
        expect.poll(() => calls.filter((call) => which.test(call))).toEqual(expected),
    };
  };
}

async function openTab(browser: Browser): Promise<Tab> {
  const page = await (await browser.newContext()).newPage();
  const goto = page.goto.bind(page);
  // Chromium ends a navigation when a container engine adds or removes a network of this machine.
  page.goto = (...given) =>
    goto(...given).catch((error: unknown) => {
      if (!String(error).includes("ERR_NETWORK_CHANGED")) throw error;
      return goto(...given);
    });
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) errors.push(message.text());
  });
  return { page, errors };
}
