import { existsSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";

/** The one without windows of its own takes half the time. */
const installed = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];
const executablePath = process.env.AL_CHROMIUM ?? installed.find(existsSync);

/** A real browser that talks to nobody but the pages of the test. Close it in `afterAll`. */
export async function openBrowser(): Promise<Browser> {
  if (executablePath === undefined) {
    throw new Error("The browser tests need Chromium: install it or set AL_CHROMIUM to its path.");
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
