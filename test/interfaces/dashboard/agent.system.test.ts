import { UserError } from "../../../src/foundation/errors.ts";
import { anAgent } from "../../helpers/agents.ts";
import { fakeOperations } from "../../helpers/fake-operations.ts";
import { testDeps } from "../gateway/start-gateway.ts";
import { sharedBrowser } from "./open-page.ts";
import { withDetail } from "./with-detail.ts";

const open = sharedBrowser();
const path = "/dashboard/agents/dev";

function inSeconds(seconds: number): string {
  return new Date(Date.now() + seconds * 1000).toISOString();
}

test("the page shows when the agent is due, and why nothing starts it then", async () => {
  const ticks = [90, 150, 210, 270, 330].map(inSeconds);
  const config = { schedule: "* * * * *", timezone: "Europe/Berlin" };
  const { page, errors, deps } = await open(path, withDetail(config, ticks));
  await expect
    .poll(() => page.locator("#schedule-text").innerText())
    .toBe("Every minute (Europe/Berlin).");
  expect(await page.locator("#ticks li").count()).toBe(5);
  expect(await page.locator("#ticks li").first().innerText()).toMatch(/^in 1 min/);
  const note = page.locator("#ticks-note");
  expect(await note.isVisible()).toBe(false);
  deps.operations.setScheduler({ paused: true });
  await expect.poll(() => note.innerText()).toContain("paused");
  deps.operations.setAgent({ name: "dev", enabled: false });
  await expect.poll(() => note.innerText()).toContain("disabled");
  expect(errors).toEqual([]);
});

test("ticks are in the reader's time zone, named if the schedule has another, with the year if far away", async () => {
  const ticks = ["2124-02-29T00:00:00.000Z"];
  const first = withDetail({ schedule: "0 9 29 2 *", timezone: "Pacific/Chatham" }, ticks);
  const { page, deps } = await open(path, first);
  const own = await page.evaluate<string>("Intl.DateTimeFormat().resolvedOptions().timeZone");
  const note = page.locator("#ticks-zone");
  await expect.poll(() => note.innerText()).toBe(`Listed in your own time zone, ${own}.`);
  expect(await page.locator("#ticks li").innerText()).toContain("2124");
  const config = anAgent("dev", { schedule: "0 9 29 2 *", timezone: own });
  deps.operations.details.set("dev", { config, nextTicks: ticks });
  deps.operations.addLog({ agent: "dev", msg: "timezone changed" });
  await expect.poll(() => note.isVisible()).toBe(false);
});

test("the active config is shown, and follows a change of its files", async () => {
  const local = { memory: "1g", cpus: 0.5, network: null, env: { LOG_LEVEL: "debug" } };
  const first = { timeoutSeconds: 120, hooks: { pre: ["git clone x ."], post: [] }, local };
  const { page, deps } = await open(`${path}?tab=config`, withDetail(first));
  await expect.poll(() => page.locator("#config").innerText()).toContain("2 min");
  const shown = await page.locator("#config").innerText();
  expect(shown).toContain("git clone x .");
  expect(shown).toMatch(/Memory\s+1g\s+Processors\s+0\.5\s+Variables\s+LOG_LEVEL=debug/);
  expect(shown).not.toContain("Network");
  const config = anAgent("dev", { timeoutSeconds: 60, instructions: "Be brief." });
  deps.operations.details.set("dev", { config, nextTicks: [] });
  deps.operations.addLog({ agent: "dev", msg: "timeout 120 → 60" });
  await expect.poll(() => page.locator("#config").innerText()).toContain("1 min");
  await page.getByRole("link", { name: "Instructions" }).click();
  await expect.poll(() => page.locator(".instructions").innerText()).toBe("Be brief.");
});

test("an agent's instructions are rendered, or shown as written", async () => {
  const instructions = "# Who you are\n\nA **careful** one, see [docs](https://example.com/).";
  const { page } = await open(`${path}?tab=instructions`, withDetail({ instructions }));
  await expect
    .poll(() => page.locator(".instructions h3").allInnerTexts())
    .toEqual(["Who you are"]);
  expect(await page.locator(".instructions strong").innerText()).toBe("careful");
  expect(await page.locator(".instructions a").getAttribute("rel")).toContain("noopener");
  await page.getByRole("button", { name: "As written" }).click();
  await expect.poll(() => page.locator(".instructions").isVisible()).toBe(false);
  await expect.poll(() => page.locator("#file pre").innerText()).toContain("A **careful** one");
});

test("the buttons Run, Run with a prompt, Disable, Enable and Kill work", async () => {
  const { page, deps } = await open(path, withDetail());
  const did = (): string[] =>
    deps.operations.calls.filter((call) => !/^(history|spend)/.test(call));
  await expect.poll(() => page.locator("#state").innerText()).toBe("idle");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect.poll(() => page.locator("#state").innerText()).toBe("running");

  await page.getByRole("button", { name: "Run with a prompt …" }).click();
  await page.getByLabel("Extra instructions").fill("Look at issue 3");
  await page.locator("#prompt-dialog").getByRole("button", { name: "Run" }).click();
  await expect.poll(did).toContain("trigger dev Look at issue 3");
  expect(await page.locator("#prompt-dialog").isVisible()).toBe(false);

  await page.getByRole("button", { name: "Kill 2 runs of dev" }).click();
  expect(did()).not.toContain("killAgent dev");
  await page.getByRole("button", { name: "Really kill 2 runs?" }).click();
  await expect.poll(did).toContain("killAgent dev");
  await expect.poll(() => page.locator("#kill").isVisible()).toBe(false);

  await page.getByRole("button", { name: "Disable" }).click();
  await page.getByRole("button", { name: "Enable" }).click();
  await expect
    .poll(did)
    .toEqual([
      "trigger dev null",
      "trigger dev Look at issue 3",
      "killAgent dev",
      "setEnabled dev false",
      "setEnabled dev true",
    ]);
});

test("a rejected prompt is still there", async () => {
  const { page, deps } = await open(path, withDetail());
  const prompt = page.getByLabel("Extra instructions");
  deps.operations.refusal = new UserError("draining", "the scheduler is stopping");
  for (const expected of ["Look at issue 5", ""]) {
    await page.getByRole("button", { name: "Run with a prompt …" }).click();
    await prompt.fill("Look at issue 5");
    await page.keyboard.press("Control+Enter");
    if (expected !== "") await page.waitForSelector(".toast");
    await expect.poll(() => prompt.inputValue()).toBe(expected);
    deps.operations.refusal = null;
  }
});

test("actions that scale = 0 or a missing config forbids are not offered, and the page says why", async () => {
  const { page, deps } = await open(path, withDetail());
  deps.operations.setAgent({ name: "dev", scale: 0, enabled: false });
  await expect.poll(() => page.locator("#disabled").innerText()).toBe("disabled by scale = 0");
  expect(await page.locator("#toggle").getAttribute("aria-disabled")).toBe("true");
  expect(await page.locator("#run").getAttribute("title")).toContain("Set scale");
  deps.operations.setAgent({ name: "dev", models: [], scale: 0, enabled: true });
  await expect.poll(() => page.locator("#run").getAttribute("title")).toContain("no valid config");
  expect(await page.locator("#toggle").getAttribute("aria-disabled")).toBeNull();
  expect(await page.locator("#disabled").isVisible()).toBe(false);
});

test("a dialog left with Escape runs nothing, and a rejected run shows why", async () => {
  const { page, deps } = await open(path, withDetail());
  await page.getByRole("button", { name: "Run with a prompt …" }).click();
  await page.keyboard.type("never mind");
  await page.keyboard.press("Escape");
  await expect.poll(() => page.locator("#prompt-dialog").isVisible()).toBe(false);
  deps.operations.refusal = new UserError("draining", "the scheduler is stopping");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect.poll(() => page.locator(".toast").innerText()).toContain("is stopping");
  expect(deps.operations.calls.filter((call) => call.startsWith("trigger"))).toHaveLength(1);
});

test("an agent without a valid config shows its error", async () => {
  const error = "agents/dev/config.toml:4:12  nonsense";
  const operations = fakeOperations([{ name: "dev", state: "error", error }]);
  const { page } = await open(`${path}?tab=config`, testDeps({ operations }));
  await expect.poll(() => page.locator("#agent-error").innerText()).toContain(":4:12");
  await expect
    .poll(() => page.locator("#config").innerText())
    .toContain("No valid configuration yet");
  await page.getByRole("link", { name: "Instructions" }).click();
  await expect.poll(() => page.locator("#file pre").innerText()).toBe("Do it.");
  expect(await page.getByRole("button", { name: "As written" }).count()).toBe(0);
});

test("a failing agent shows since when, how often, and what changed since its last success", async () => {
  const deps = testDeps();
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  deps.operations.failing = () => ({
    instanceId: "dev-bbbbbbbb",
    count: 1078,
    newest: true,
    since: minutesAgo(3 * 24 * 60),
    lastSuccess: { instanceId: "dev-aaaaaaaa", at: minutesAgo(3 * 24 * 60 + 7) },
    changed: ["config"],
  });
  const { page } = await open("/dashboard/agents/dev", deps);
  const failing = page.locator("#failing");
  await expect
    .poll(() => failing.innerText())
    .toMatch(
      /^Failing since .*\d\d:\d\d, 1,078 in a row; last success .*\d\d:\d\d; changed in between: config$/,
    );
  const links = await failing.locator("a").all();
  expect(await Promise.all(links.map((link) => link.getAttribute("href")))).toEqual([
    "/dashboard/agents/dev/runs/dev-aaaaaaaa",
    "/dashboard/agents/dev/runs/dev-bbbbbbbb/changes?to=dev-aaaaaaaa",
  ]);
  deps.operations.failing = () => null;
  deps.operations.setAgent({ name: "dev", statusText: "well" });
  await expect.poll(() => failing.count()).toBe(0);
});

test("a removed agent is shown as removed, and can't be run", async () => {
  const { page, deps } = await open(path, withDetail());
  await expect.poll(() => page.locator("#state").innerText()).toBe("idle");
  deps.operations.removeAgent("dev");
  await expect.poll(() => page.locator("#gone").isVisible()).toBe(true);
  expect(await page.locator("#run").getAttribute("aria-disabled")).toBe("true");
});

test("a used-up budget shows its end, and a person can raise it", async () => {
  const deps = withDetail();
  const day = { scope: "agent:dev", window: "2026-11-22", usd: 5, limit: 5 };
  const limit = { ...day, reserved: 0.25, endsAt: inSeconds(7_300) };
  const month = { ...limit, window: "2026-11", limit: null };
  const forecast = { monthUsd: 3.1, p90Usd: 7 };
  deps.operations.spending.set("day", { rows: [], limits: [limit, month], forecast });
  const { page, errors } = await open(path, deps);
  const facts = () => page.locator("#budget").innerText();
  await expect
    .poll(facts, { timeout: 10_000 })
    .toMatch(
      /Today\s+\$5\.00 of \$5\.00, \$0\.25 reserved\s+This month\s+\$5\.00, .*\s+Forecast\s+about \$3\.10 a month/,
    );
  const notice = page.locator("#used-budget");
  expect(await notice.isVisible()).toBe(false);
  const usedBudget = { ...day, endsAt: inSeconds(7_300), onLimit: "pause" } as const;
  deps.operations.setAgent({ name: "dev", usedBudget });
  await expect
    .poll(() => page.locator("#used-budget-text").innerText())
    .toBe("It waits for money: $5.00 of its $5.00 a day is spent; the next day begins in 2 h.");
  await notice.getByRole("button", { name: "Raise" }).click();
  await expect
    .poll(() => page.locator("#raise-dialog h2").innerText())
    .toBe("Raise the budget of dev");
  await page.getByRole("button", { name: "Cancel" }).click();
  expect(deps.operations.calls.filter((call) => call.startsWith("raise"))).toEqual([]);
  await page.getByRole("button", { name: "Raise budget" }).click();
  await page.getByLabel("US dollars").fill("2.5");
  await page.locator("#raise-dialog").getByRole("button", { name: "Raise" }).click();
  await expect.poll(() => deps.operations.calls).toContain("raiseBudget agent:dev 2.5");
  await expect
    .poll(() => page.locator("#announcer").textContent())
    .toBe("Raised the budget of dev by $2.50");
  deps.operations.setAgent({ name: "dev", usedBudget: { ...usedBudget, scope: "project" } });
  await expect.poll(() => notice.innerText()).toContain("of the project's $5.00 a day");
  await notice.getByRole("button", { name: "Raise" }).click();
  await expect
    .poll(() => page.locator("#raise-dialog h2").innerText())
    .toBe("Raise the budget of the project");
  await page.keyboard.press("Escape");
  deps.operations.setAgent({ name: "dev", usedBudget: null });
  await expect.poll(() => notice.isVisible()).toBe(false);
  expect(errors).toEqual([]);
});
