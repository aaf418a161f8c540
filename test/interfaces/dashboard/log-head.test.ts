import { expect, test } from "vitest";
import { testDeps } from "../gateway/start-gateway.ts";
import { sharedBrowser } from "./open-page.ts";

const open = sharedBrowser();
const path = "/dashboard/agents/dev/logs";

test("the log's head has the agent's state and cost, live, over the page's one stream", async () => {
  const deps = testDeps();
  const { page, errors } = await open(path, deps);
  // A reader on a slow machine may open its stream twice.
  const streams = new Set<string>();
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.includes("stream")) streams.add(pathname);
  });
  await page.reload();
  await expect.poll(() => page.locator("#state").innerText()).toBe("idle");
  const endsAt = new Date(Date.now() + 3_600_000).toISOString();
  const running = { running: 1, scale: 2, runningUsd: 0.5, spentToday: { usd: 1.2, endsAt } };
  deps.operations.setAgent(Object.assign({ name: "dev", state: "running" as const }, running));
  await expect.poll(() => page.locator("#state").innerText()).toBe("running");
  const load = await page.locator("#load").innerText();
  expect(load).toContain("1 of 2 running");
  expect(load).toContain("$1.20 today");
  expect([...streams]).toEqual(["/dashboard/api/logs/dev/stream"]);
  deps.operations.removeAgent("dev");
  await expect.poll(() => page.locator("#state").innerText()).toBe("gone");
  expect(errors).toEqual([]);
});

test("Run runs the agent, and Kill asks first", async () => {
  const deps = testDeps();
  const { page } = await open(path, deps);
  await expect.poll(() => page.locator("#state").innerText()).toBe("idle");
  const kill = page.locator("#kill");
  expect(await kill.isVisible()).toBe(false);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const acts = (): readonly string[] =>
    deps.operations.calls.filter((call) => /^(trigger|kill)/.test(call));
  await expect.poll(acts).toHaveLength(1);
  deps.operations.setAgent({ name: "dev", state: "running", running: 2 });
  await kill.click();
  expect(await kill.innerText()).toBe("Really kill 2 runs?");
  expect(acts()).toHaveLength(1);
  await kill.click();
  await expect.poll(() => acts().at(-1)).toMatch(/^kill.* dev/);
});

test("on a part of the log the head is live as well, and the scheduler's log has none", async () => {
  const deps = testDeps();
  for (let line = 0; line < 300; line++) deps.logs.write({ agent: "dev", msg: `<${line}>` });
  const { page, url } = await open(`${path}?at=dev-2026-11-21.log%3A100`, deps);
  await expect.poll(() => page.locator(".line").count()).toBe(120);
  await expect.poll(() => page.locator("#state").innerText()).toBe("idle");
  expect(await page.locator("#connection").innerText()).toBe("Live");
  deps.operations.setAgent({ name: "dev", state: "running", running: 1 });
  await expect.poll(() => page.locator("#state").innerText()).toBe("running");
  deps.logs.write({ agent: "dev", msg: "<300>" });
  await page.waitForTimeout(300);
  expect(await page.locator(".line").count()).toBe(120);
  await page.goto(`${url}/dashboard/agents/scheduler/logs`);
  await expect.poll(() => page.locator("#connection").innerText()).toBe("Live");
  expect(await page.locator("#run").count()).toBe(0);
});
