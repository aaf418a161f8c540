import type { Browser } from "playwright-core";
import { openBrowser } from "../../../helpers/browser.ts";
import { apiKey, startTcp, testDeps } from "../../gateway/start-gateway.ts";
import { logPath } from "../log-support.ts";
import { untilLive } from "../shows.ts";

let browser: Browser;
beforeAll(async () => void (browser = await openBrowser()));
afterAll(() => browser.close());

const hourMs = 3_600_000;
interface ShownLine {
  readonly text: string;
  readonly href: string;
  readonly at: string;
  readonly title: string;
}
const shownLines = `[...document.querySelectorAll("#log .line")].map((line) => ({
  text: line.querySelector(".text").innerText,
  href: decodeURIComponent(line.querySelector(".line-link").href),
  at: line.querySelector(".at").innerText,
  title: line.querySelector(".at").title,
}))`;

test.each(["Pacific/Kiritimati", "Pacific/Pago_Pago"])(
  "each line of a log has its own link and time where the server's days are others: %s",
  async (timezoneId) => {
    const deps = testDeps();
    for (let line = 1; line <= 60; line++) {
      const time = Date.now() - (61 - line) * hourMs;
      deps.logs.write({ agent: "dev", msg: `line ${line}.`, time });
    }
    const url = await startTcp(deps);
    const context = await browser.newContext({ timezoneId });
    await context.request.post(`${url}/login`, { data: { key: apiKey } });
    const page = await context.newPage();
    await page.goto(url + logPath);
    await untilLive(page);
    const lines = await page.evaluate<readonly ShownLine[]>(shownLines);
    expect(lines).toHaveLength(60);
    for (const [index, { text, href, at, title }] of lines.entries()) {
      expect(text).toBe(`line ${index + 1}.`);
      expect(href).toMatch(new RegExp(`at=[^&]*\\.log:${index + 1}(&|$)`));
      expect(title).toContain(at);
    }
    await context.close();
  },
);
