import type { Page } from "playwright-core";
import { isLong } from "../../../helpers/long.ts";
import { aRunView } from "../../../helpers/run-view.ts";
import { testDeps, type TestDeps } from "../../gateway/start-gateway.ts";
import { sharedBrowser } from "../open-page.ts";
import { untilLive } from "../shows.ts";

const open = sharedBrowser({ isFresh: true });

function rowText(page: Page): Promise<string> {
  return page.locator("tr[data-agent=dev]").innerText();
}

/** How many event streams the gateway has open. */
async function streamsOf({ metrics }: TestDeps): Promise<number> {
  const found = (await metrics.text()).matchAll(/^almanac_stream_clients\{.*\} (\d+)$/gm);
  return [...found].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Two more than a browser opens connections to a server; twenty in `test:long`. */
const pageCount = isLong ? 20 : 8;

test("all visible pages of one browser share one stream", async () => {
  const deps = testDeps();
  const instanceId = "dev-abcdefgh";
  deps.operations.runs.set(instanceId, aRunView(instanceId));
  const { page: first, url } = await open("/dashboard", deps);
  const paths = [
    "",
    "/agents/dev",
    "/agents/dev/logs",
    `/agents/dev/runs/${instanceId}`,
    "/alerts",
  ];
  const pages = [first];
  while (pages.length < pageCount) {
    const page = await first.context().newPage();
    await page.goto(`${url}/dashboard${paths[pages.length % paths.length] ?? ""}`);
    pages.push(page);
  }
  for (const page of pages) await untilLive(page);
  await expect.poll(() => streamsOf(deps)).toBe(1);
  deps.operations.setScheduler({ alerts: { open: 7, dead: 0 } });
  deps.logs.write({ agent: "dev", instanceId, msg: "to all that follow" });
  for (const [index, page] of pages.entries()) {
    await expect.poll(() => page.title(), { message: `page ${index}` }).toContain("(7)");
    if (!/logs|runs/.test(page.url())) continue;
    await expect
      .poll(() => page.locator("#log .text").allInnerTexts(), {
        message: page.url(),
      })
      .toEqual(["to all that follow"]);
  }
  await expect.poll(() => streamsOf(deps)).toBe(1);
  for (const page of pages.slice(1)) await page.close();
  deps.operations.setAgent({ name: "dev", statusText: "one is left" });
  await expect.poll(() => rowText(first)).toContain("one is left");
});

test("without shared workers each page has a stream of its own", async () => {
  const deps = testDeps();
  const { page, url, shows } = await open("/dashboard", deps);
  await page.context().addInitScript("delete window.SharedWorker");
  await page.goto(`${url}/dashboard/agents/dev/logs`);
  await expect.poll(() => streamsOf(deps)).toBe(1);
  const other = await page.context().newPage();
  await other.goto(`${url}/dashboard`);
  await expect.poll(() => streamsOf(deps)).toBe(2);
  deps.operations.setAgent({ name: "dev", statusText: "for both" });
  await expect.poll(() => rowText(other)).toContain("for both");
  deps.logs.write({ agent: "dev", msg: "a line" });
  await shows({ "#log .text": ["a line"] });
});

test("a log whose filter is too long for the shared stream has one of its own", async () => {
  const deps = testDeps();
  const { page: overview, url } = await open("/dashboard", deps);
  const text = "ж".repeat(1000);
  const page = await overview.context().newPage();
  await page.goto(`${url}/dashboard/agents/dev/logs?q=${encodeURIComponent(text)}`);
  await expect.poll(() => streamsOf(deps)).toBe(2);
  deps.operations.setAgent({ name: "dev", statusText: "for the others" });
  await expect.poll(() => rowText(overview)).toContain("for the others");
  deps.logs.write({ agent: "dev", msg: `${text} & 1% + 2` });
  await expect.poll(() => page.locator("#log .text").allInnerTexts()).toEqual([`${text} & 1% + 2`]);
});

test("pages reconnect automatically after their shared worker ended", async () => {
  const deps = testDeps();
  const { page } = await open("/dashboard", deps);
  await untilLive(page);
  await endSharedWorkers(page);
  await expect.poll(() => streamsOf(deps)).toBe(1);
  deps.operations.setAgent({ name: "dev", statusText: "after its end" });
  await expect.poll(() => rowText(page)).toContain("after its end");
});

async function endSharedWorkers(page: Page): Promise<void> {
  const browser = await page.context().browser()?.newBrowserCDPSession();
  const { targetInfos = [] } = (await browser?.send("Target.getTargets")) ?? {};
  const workers = targetInfos.filter(({ type }) => type === "shared_worker");
  expect(workers).not.toEqual([]);
  const end = { id: 1, method: "Runtime.evaluate", params: { expression: "close()" } };
  for (const { targetId } of workers) {
    const attached = await browser?.send("Target.attachToTarget", { targetId });
    const message = JSON.stringify(end);
    await browser?.send("Target.sendMessageToTarget", { ...attached, message });
  }
}
