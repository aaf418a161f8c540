import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { openBrowser } from "../../helpers/browser.ts";
import { tempDir } from "../../helpers/temp-dir.ts";
import { startTcp, testDeps } from "../gateway/start-gateway.ts";
import { perFile } from "../../helpers/per-test.ts";

const browser = perFile(openBrowser, (browser) => browser.close());

interface Visit {
  readonly page: Page;
  readonly url: string;
  readonly link: string;
  /** The Referer of every request after the link's own. */
  readonly referers: Promise<string | null>[];
}

/** A browser that never logged in, and a link for it. */
async function visit(): Promise<Visit> {
  const deps = testDeps();
  const gateway = await startTcp(deps);
  const link = deps.loginLinks.create(gateway).url;
  const url = gateway.replace("127.0.0.1", deps.sessions.privateHost);
  const context = await browser().newContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const referers: Promise<string | null>[] = [];
  // As they were sent: the headers that a redirect begins with are not.
  page.on("response", (response) => void referers.push(response.request().headerValue("referer")));
  return { page, url, link, referers };
}

async function expectDashboard({ page, url, link, referers }: Visit): Promise<void> {
  await page.waitForURL(`${url}/dashboard`);
  await page.getByRole("link", { name: "dev", exact: true }).first().waitFor();
  expect((await Promise.all(referers)).join("\n")).not.toContain(new URL(link).pathname);
  await page.goBack().catch(() => null);
  await expect.poll(() => page.url()).not.toContain(new URL(link).pathname);
}

test("an opened login link shows the dashboard, and is not in the browser's history", async () => {
  const visited = await visit();
  await visited.page.goto(visited.link);
  await expectDashboard(visited);
});

test("a page from a file, as al open writes it, shows the dashboard", async () => {
  const visited = await visit();
  const file = join(tempDir(), "open.html");
  writeFileSync(file, `<meta http-equiv="refresh" content="0; url=${visited.link}">`);
  chmodSync(file, 0o600);
  await visited.page.goto(`file://${file}`);
  await expectDashboard(visited);
});
