import { existsSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";

/** The one without windows of its own takes half the time. */
const installed = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];
const executablePath = process.env.AL_CHROMIUM ?? installed.find(existsSync);

const missing = "The browser tests need Chromium: install it or set AL_CHROMIUM to its path.";

/** Why pages can't be opened here, which a line says; null when they can. In CI that throws. */
export function whyNoBrowser(): string | null {
  if (executablePath !== undefined) return null;
  if (process.env.CI !== undefined && process.env.CI !== "") throw new Error(missing);
  process.stderr.write(`skipped the tests of pages: ${missing}\n`);
  return missing;
}

/** A real browser that talks to nobody but the pages of the test. Close it in `afterAll`. */
export async function openBrowser(): Promise<Browser> {
  if (executablePath === undefined) throw new Error(missing);
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
