import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import type { Browser } from "playwright-core";

const executablePath = process.env.AL_CHROMIUM ?? "/usr/bin/chromium";

/** A real browser that talks to nobody but the pages of the test. Close it in `afterAll`. */
export async function openBrowser(): Promise<Browser> {
  if (!existsSync(executablePath)) {
    throw new Error(
      `The browser tests need Chromium at ${executablePath}: install it or set AL_CHROMIUM.`,
    );
  }
  return await chromium.launch({
    executablePath,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
