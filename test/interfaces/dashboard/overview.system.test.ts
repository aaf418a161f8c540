import { UserError } from "../../../src/foundation/errors.ts";
import { createGateway } from "../../../src/interfaces/gateway/server.ts";
import { fakeOperations } from "../../helpers/fake-operations.ts";
import { startTcp, testDeps } from "../gateway/start-gateway.ts";
import { sharedBrowser } from "./open-page.ts";

const open = sharedBrowser();

function withAgents(...agents: Parameters<typeof fakeOperations>[0] & object) {
  return testDeps({ operations: fakeOperations(agents) });
}

test("a wrong key stays on the login page, with a message", async () => {
  const { page, url } = await open("/dashboard");
  // The page's own requests would lead it to the login, too.
  await expect.poll(() => page.locator("#connection-text").innerText()).toBe("Live");
  await page.context().clearCookies();
  await page.goto(`${url}/dashboard`);
  await page.getByLabel("API key").fill("wrong");
  await page.getByRole("button", { name: "Log in" }).click();
  await expect
    .poll(() => page.getByRole("alert").textContent())
    .toBe("This is not the gateway’s API key.");
});

test("the table has the nine columns and a row for each agent, by name", async () => {
  const lastRunAt = new Date(Date.now() - 5 * 60_000).toISOString();
  const { page, errors } = await open(
    "/dashboard?sort=name",
    withAgents(
      { name: "zoo", title: "The Zoo", queued: 3, running: 2, scale: 4, state: "running" },
      { name: "ant", lastRunAt, lastDurationMs: 1234, lastOutcome: "succeeded", enabled: false },
    ),
  );
  const rows = page.locator("tbody tr");
  await expect.poll(() => rows.count()).toBe(2);
  expect(
    (await page.locator("thead th:not(.select)").allInnerTexts()).map((text) => text.trim()),
  ).toEqual([
    "Agent",
    "State",
    "Status",
    "Last 20 Runs",
    "Last Run",
    "Duration",
    "Next Run",
    "Cost Today",
    "Actions",
  ]);
  const texts = await rows.allInnerTexts();
  expect(texts[0]).toMatch(/ant[\s\S]*idle[\s\S]*disabled[\s\S]*5 min ago[\s\S]*1\.2 s/);
  expect(texts[1]).toMatch(/zoo[\s\S]*The Zoo[\s\S]*running[\s\S]*2 of 4 · 3 queued/);
  expect(await rows.nth(0).locator("td.last-run time").getAttribute("title")).toContain("20");
  expect(await page.locator("#counts").textContent()).toBe("2 agents");
  expect(errors).toEqual([]);
});

test("a row is updated without a reload, and keeps focus and selection", async () => {
  const { page, deps } = await open("/dashboard");
  const run = page.getByRole("button", { name: "Run dev" });
  await run.focus();
  await page.evaluate(`getSelection().selectAllChildren(document.querySelector(".agent-name"))`);
  deps.operations.setAgent({ name: "dev", state: "running", statusText: "thinking" });
  await expect.poll(() => page.locator("tr[data-agent=dev]").innerText()).toContain("thinking");
  deps.operations.setAgent({ name: "cat" });
  await expect.poll(() => page.locator("tbody tr").first().innerText()).toContain("cat");
  expect(await page.evaluate(`document.activeElement.getAttribute("aria-label")`)).toBe("Run dev");
  expect(await page.evaluate(`String(getSelection())`)).toBe("dev");
  deps.operations.removeAgent("cat");
  await expect.poll(() => page.locator("tbody tr").count()).toBe(1);
});

test("a running agent shows its own time, not the end of the run before", async () => {
  const lastRunAt = new Date(Date.now() - 55_000).toISOString();
  const ran = { name: "dev", lastRunAt, lastDurationMs: 1234, lastOutcome: "failed" } as const;
  const deps = withAgents({ ...ran, running: 1, state: "running" });
  const { page } = await open("/dashboard", deps);
  const row = page.locator("tr[data-agent=dev]");
  await expect.poll(() => row.locator("td.duration").innerText()).toMatch(/^5\d s$/);
  expect(await row.locator("td.last-run").innerText()).toMatch(/\b5\d s ago$/);
  deps.operations.setAgent({ ...ran, running: 0, state: "error" });
  await expect.poll(() => row.locator("td.last-run").innerText()).toContain("failed");
  expect(await row.locator("td.duration").innerText()).toBe("1.2 s");
});

test("a run that was started is linked, and a Disable can be undone", async () => {
  const { page, deps } = await open("/dashboard");
  await page.getByRole("button", { name: "Run dev" }).click();
  const toast = page.locator(".toast");
  await expect.poll(() => toast.innerText()).toContain("dev was started");
  const run = toast.getByRole("link", { name: "Show run" });
  expect(await run.getAttribute("href")).toMatch(/^\/dashboard\/agents\/dev\/runs\/dev-/);
  await page.getByRole("button", { name: "Disable dev" }).click();
  await toast.getByRole("button", { name: "Undo" }).click();
  const calls = () => deps.operations.calls.filter((call) => call.startsWith("setEnabled"));
  await expect.poll(calls).toEqual(["setEnabled dev false", "setEnabled dev true"]);
  await expect.poll(() => toast.filter({ hasText: "Undo" }).count()).toBe(0);
});

test("the buttons Run, Disable, Enable and Resume and the dialog of Pause work", async () => {
  const { page, deps } = await open("/dashboard");
  const { calls } = deps.operations;
  await page.getByRole("button", { name: "Run dev" }).click();
  await expect
    .poll(() => page.locator("tr[data-agent=dev] .pill").first().innerText())
    .toBe("running");
  await page.getByRole("button", { name: "Disable dev" }).click();
  await page.getByRole("button", { name: "Enable dev" }).click();
  await page.getByRole("button", { name: "Pause the scheduler" }).click();
  const dialog = page.getByRole("dialog", { name: "Pause the scheduler" });
  await dialog.getByRole("radio", { name: "Schedules only", checked: true }).waitFor();
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator("#scheduler-state").textContent()).toBe("schedules paused");
  await page.getByRole("button", { name: "Resume the scheduler" }).click();
  await expect.poll(() => page.locator("#scheduler-state").textContent()).toBe("active");
  expect(calls.filter((call) => !call.startsWith("history"))).toEqual([
    "trigger dev null",
    "setEnabled dev false",
    "setEnabled dev true",
    "setPaused true",
    "setPaused false",
  ]);
});

test("an agent with scale = 0 is shown as such, without Run or Enable", async () => {
  const { page, deps } = await open("/dashboard", withAgents({ name: "dev" }));
  const row = page.locator("tr[data-agent=dev]");
  deps.operations.setAgent({ name: "dev", scale: 0, enabled: false });
  await expect.poll(() => row.innerText()).toContain("disabled by scale = 0");
  for (const name of ["Run dev", "Enable dev"]) {
    expect(await row.getByRole("button", { name }).getAttribute("aria-disabled")).toBe("true");
  }
  await row.locator("button").first().dispatchEvent("click");
  await expect
    .poll(() => page.locator(".toast").textContent())
    .toContain("Set scale in its config.toml first.");
  expect(deps.operations.calls.filter((call) => call.startsWith("trigger"))).toEqual([]);
});

test("a scheduler that answers again is no longer shown as silent", async () => {
  const { page } = await open("/dashboard");
  const isLive = () => page.locator("#connection-text").innerText();
  await expect.poll(isLive).toBe("Live");
  await page.context().setOffline(true);
  await page.getByRole("button", { name: "Run dev" }).click();
  await expect.poll(() => page.locator(".toast").innerText()).toContain("does not answer");
  await page.context().setOffline(false);
  await expect.poll(isLive).toBe("Live");
  expect(await page.locator(".toast").count()).toBe(0);
});

test("a repeated rejection is shown once, and covers no button", async () => {
  const agents = Array.from({ length: 20 }, (_, index) => ({ name: `agent-${index}` }));
  const { page, deps } = await open("/dashboard", withAgents(...agents));
  const button = page.getByRole("button", { name: "Run agent-1", exact: true });
  const asked = () => deps.operations.calls.filter((call) => call.startsWith("trigger"));
  for (let press = 1; press <= 3; press++) {
    deps.operations.refusal = new UserError("disabled", "not now");
    await button.click();
    await expect.poll(asked).toHaveLength(press);
  }
  const toast = page.locator(".toast");
  await expect.poll(() => toast.count()).toBe(1);
  const [told, pressed] = await Promise.all([toast.boundingBox(), button.boundingBox()]);
  expect(await toast.textContent()).toContain("not now");
  expect((told?.x ?? 0) + (told?.width ?? 0)).toBeLessThan(pressed?.x ?? 0);
});

test("an error is shown with its cause first, then its place, without terminal colours", async () => {
  const place = "agents/dev/config.toml:4:12";
  const error = `${place}  \u001b[31mno space left\u001b[0m`;
  const { page } = await open("/dashboard", withAgents({ name: "dev", state: "error", error }));
  const status = page.locator("tr[data-agent=dev] td.status");
  await expect.poll(() => status.textContent()).toBe(`no space left · ${place}`);
  await page.getByRole("link", { name: "dev", exact: true }).click();
  await expect
    .poll(() => page.locator("#agent-error").textContent())
    .toBe(`${place}  no space left`);
});

test("an empty project names the first step, and shows the first agent when it appears", async () => {
  const { page, deps } = await open("/dashboard", withAgents());
  await expect.poll(() => page.locator("#empty").isVisible()).toBe(true);
  expect(await page.locator("#table").isVisible()).toBe(false);
  deps.operations.setAgent({ name: "first" });
  await expect.poll(() => page.locator("#table").isVisible()).toBe(true);
  expect(await page.locator("#empty").isVisible()).toBe(false);
});

test("Recent Activity shows no line twice after a reconnect or a restart", async () => {
  const deps = testDeps();
  const first = createGateway(deps);
  const url = (await first.listenTcp()).replace("localhost", "127.0.0.1");
  const port = Number(new URL(url).port);
  for (let line = 1; line <= 15; line++) deps.operations.addLog({ msg: `line ${line}` });
  const { page } = await open("/dashboard", deps, url);
  const shown = () => page.locator("#activity .activity-text").allInnerTexts();
  const lines = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`);
  const newest = (from: number, to: number) => lines(from, to).reverse();
  await expect.poll(shown).toEqual(newest(1, 15));

  await first.close();
  deps.operations.addLog({ msg: "line 16" });
  const again = createGateway({ ...deps, port });
  await again.listenTcp();
  await expect.poll(shown, { timeout: 10_000 }).toEqual(newest(1, 16));

  await again.close();
  const operations = fakeOperations([{ name: "dev" }]);
  operations.setScheduler({ startedAt: "2099-01-01T00:00:00.000Z" });
  // It begins with the lines of the one before, and came past the number that the page saw last.
  for (const msg of lines(4, 25)) operations.addLog({ msg });
  await startTcp({ ...deps, operations, port });
  await expect.poll(shown, { timeout: 10_000 }).toEqual(newest(6, 25));
  operations.addLog({ msg: "line 26" });
  await expect.poll(shown).toEqual(newest(7, 26));
});

test("a logout in one tab sends the other to the login page", async () => {
  const { page, url } = await open("/dashboard");
  const other = await page.context().newPage();
  await other.goto(`${url}/dashboard`);
  await other.waitForSelector("body[data-connection=live]");
  await page.getByRole("link", { name: "Logout" }).click();
  await page.waitForURL(`${url}/login`);
  await other.waitForURL(`${url}/login?next=%2Fdashboard`);
});

test("on a phone nothing is wider than the screen", async () => {
  const error = `agents/${"long-name/".repeat(12)}config.toml:4:12 wrong`;
  const agents = [
    { name: "a".repeat(63), error },
    { name: "zero", scale: 0, enabled: false },
  ];
  const { page } = await open("/dashboard", withAgents(...agents));
  await page.setViewportSize({ width: 360, height: 700 });
  await page.waitForSelector("tbody tr");
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
  // The first agent is in the upper half of the screen, below all ways to choose.
  expect((await page.locator("tbody tr").first().boundingBox())?.y).toBeLessThan(350);
});

test("warnings are shown: the project's above the table, an agent's in its row and on its page", async () => {
  const warning = 'config.toml model "claude" can\'t be used: credential anthropic_key is missing';
  const deps = testDeps({ operations: fakeOperations([{ name: "dev", warning }]) });
  const warnings = ["agents/a is not an agent", "agents/b is not an agent"];
  deps.operations.setScheduler({ warnings });
  const { page } = await open("/dashboard", deps);
  const status = page.locator("tr[data-agent=dev] td.status");
  await expect.poll(() => status.innerText()).toBe(warning);
  const ofProject = page.locator("#config-warnings");
  await expect.poll(() => ofProject.innerText()).toBe(warnings.join("\n"));
  deps.operations.setAgent({ name: "dev", warning, statusText: "done" });
  await expect.poll(() => status.innerText()).toBe(`done\n${warning}`);
  await page.getByRole("link", { name: "dev", exact: true }).click();
  await expect.poll(() => page.locator("#agent-warning").innerText()).toBe(warning);
  deps.operations.setScheduler({ warnings: [] });
  deps.operations.setAgent({ name: "dev", warning: null });
  await expect.poll(() => page.locator("#agent-warning").isVisible()).toBe(false);
  await expect.poll(() => ofProject.isVisible()).toBe(false);
});
