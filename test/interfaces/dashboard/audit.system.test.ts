import { aRunView } from "../../helpers/run-view.ts";
import { testDeps } from "../gateway/start-gateway.ts";
import { sharedBrowser } from "./open-page.ts";
import { busyState, instance } from "./page-states.ts";

const open = sharedBrowser();
const ada = { via: "slack", name: "Ada", from: null } as const;

test("the page Audit lists who did what, without a script, and leads to the run", async () => {
  const deps = testDeps();
  const about = { agent: "dev", instanceId: "dev-abcdefgh" };
  deps.operations.recordAct({ act: "approve", ...about, detail: "once\u202E (host a.test)" }, ada);
  const { page, url } = await open("/dashboard/audit", deps);
  const html = await (await page.context().request.get(`${url}/dashboard/audit`)).text();
  expect(html).toContain("Ada by Slack");
  const rows = await page.locator("#acts tr").allInnerTexts();
  expect(rows.map((row) => row.split(/\s*\t\s*/).slice(1))).toEqual([
    ["dashboard from 127.0.0.1", "login", ""],
    ["Ada by Slack", "approve", "dev-abcdefgh", "once[U+202E] (host a.test)"],
  ]);
  expect(await page.getByRole("link", { name: "dev-abcdefgh" }).getAttribute("href")).toBe(
    "/dashboard/agents/dev/runs/dev-abcdefgh",
  );
});

test("an act appears by itself, and filters and pages are in the address", async () => {
  const { page, deps, errors } = await open("/dashboard/audit", busyState());
  await page.waitForSelector("body[data-connection=live]");
  const rows = page.locator("#acts tr");
  await expect.poll(() => rows.count()).toBe(50);
  await page.getByRole("button", { name: "Older" }).click();
  await expect.poll(() => rows.count()).toBe(11);
  await page.goto(page.url().replace(/\?.*/, "?act=pause"));
  await page.getByText("No act meets these filters.").waitFor();
  deps.operations.recordAct({ act: "pause" }, ada);
  deps.operations.emit({ changed: ["audit"] });
  await expect.poll(() => rows.count()).toBe(1);
  await page.getByLabel("Act", { exact: true }).selectOption("raise");
  await expect.poll(() => rows.count()).toBe(30);
  expect(page.url()).toMatch(/\?act=raise$/);
  expect(errors).toEqual([]);
});

test("the page Audit reads the acts again only after an update that names them", async () => {
  const { page, url, deps } = await open("/dashboard/tokens", busyState());
  let reads = 0;
  page.on("request", (request) => void (reads += request.url().includes("/api/audit") ? 1 : 0));
  await page.clock.install();
  await page.goto(`${url}/dashboard/audit`);
  await expect.poll(() => reads).toBe(1);
  await page.clock.fastForward(5_000);
  deps.operations.setScheduler({ paused: true });
  await page.getByRole("button", { name: "Resume" }).waitFor();
  await page.clock.fastForward(5_000);
  deps.operations.recordAct({ act: "logout" }, ada);
  deps.operations.emit({ changed: ["audit"] });
  await expect.poll(() => page.locator("#acts tr").first().innerText()).toContain("logout");
  expect(reads).toBe(2);
});

test.each([1280, 390])("fits a screen of %i pixels", async (width) => {
  const { page } = await open("/dashboard/audit", busyState());
  await page.setViewportSize({ width, height: 800 });
  const overflow = "document.documentElement.scrollWidth - innerWidth";
  expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0);
  const box = await page.locator("#acts tr").first().boundingBox();
  expect(box?.width).toBeGreaterThan(width * 0.8);
});

test("the run's page says who acted on the run, and leads to the acts", async () => {
  const deps = busyState();
  const acts = ["kill", "trigger"] as const;
  const run = aRunView(instance, {
    acts: acts.map((act, id) => ({
      id,
      act,
      agent: "dev",
      instanceId: instance,
      detail: "",
      by: ada,
      at: new Date().toISOString(),
    })),
  });
  deps.operations.runs.set(instance, run);
  const { page } = await open(`/dashboard/agents/dev/runs/${instance}`, deps);
  const link = page.getByRole("link", { name: "trigger: Ada by Slack, kill: Ada by Slack" });
  expect(await link.getAttribute("href")).toBe(`/dashboard/audit?instance=${instance}`);
});
