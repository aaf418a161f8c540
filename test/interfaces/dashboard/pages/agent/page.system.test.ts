import { Problem } from "../../../../../src/foundation/errors.ts";
import { anAgent } from "../../../../helpers/agents.ts";
import { sharedBrowser } from "../../open-page.ts";
import { ago } from "../../page-states.ts";
import { withDetail } from "../../with-detail.ts";

const open = sharedBrowser();
const path = "/dashboard/agents/dev";

test("an agent's page shows when the agent is due, and why nothing starts it then", async () => {
  const ticks = [90, 150, 210, 270, 330].map((seconds) => ago(-seconds));
  const config = { schedule: "* * * * *", timezone: "Europe/Berlin" };
  const { deps, shows } = await open(path, withDetail(config, ticks));
  await shows({
    "#schedule-text": "Every minute (Europe/Berlin).",
    "#ticks li": 5,
    "#ticks li >> nth=0": /^in 1 min/,
    "#ticks-note": false,
  });
  deps.operations.setScheduler({ paused: true });
  await shows({ "#ticks-note": /paused/ });
  deps.operations.setAgent({ name: "dev", enabled: false });
  await shows({ "#ticks-note": /disabled/ });
});

test("scheduled runs are shown in the reader's time zone, named if the schedule has another, with the year if far away", async () => {
  const ticks = ["2124-02-29T00:00:00.000Z"];
  const first = withDetail({ schedule: "0 9 29 2 *", timezone: "Pacific/Chatham" }, ticks);
  const { page, deps, shows } = await open(path, first);
  const own = await page.evaluate<string>("Intl.DateTimeFormat().resolvedOptions().timeZone");
  await shows({ "#ticks-zone": `Listed in your own time zone, ${own}.`, "#ticks li": /2124/ });
  const config = anAgent("dev", { schedule: "0 9 29 2 *", timezone: own });
  deps.operations.details.set("dev", { config, nextTicks: ticks });
  deps.operations.addLog({ agent: "dev", msg: "timezone changed" });
  await shows({ "#ticks-zone": false });
});

test("an agent's page lists the runs of all schedules, with those that calendars leave out and why", async () => {
  const entry = { name: "nightly", expression: "0 3 * * *", prompt: null, params: {} };
  const schedules = [{ ...entry, timezone: "UTC", calendar: { skip: ["xmas"], only: [] } }];
  const first = withDetail({ schedule: null, schedules }, []);
  const run = { agent: "dev", schedule: "nightly", timezone: "UTC" };
  const leftOut = {
    why: "calendar xmas: Christmas Day",
    until: "2124-12-26T00:00:00.000Z",
    count: 2,
  };
  first.operations.details.set("dev", {
    ...first.operations.details.get("dev"),
    config: anAgent("dev", { schedule: null, schedules }),
    nextTicks: ["2124-12-26T03:00:00.000Z"],
    next: [
      { ...run, at: "2124-12-25T03:00:00.000Z", leftOut },
      { ...run, at: "2124-12-26T03:00:00.000Z", leftOut: null },
    ],
  });
  const { shows } = await open(path, first);
  await shows({
    "#schedule-text": "nightly: 0 3 * * * (UTC).",
    "#ticks li >> nth=0": /nightly · left out: 2 runs until .*, by calendar xmas: Christmas Day$/,
    "#ticks li >> nth=1": /nightly$/,
  });
});

test("an agent's page shows the active config, and follows a change of its files", async () => {
  const local = { memory: "1g", cpus: 0.5, network: null, env: { LOG_LEVEL: "debug" } };
  const first = { timeoutSeconds: 120, hooks: { pre: ["git clone x ."], post: [] }, local };
  const { page, deps, shows } = await open(`${path}?tab=config`, withDetail(first));
  await shows({
    "#config": /2 min.*git clone x \. .*Memory 1g Processors 0\.5 Variables LOG_LEVEL=debug/,
    "#config dt:text('Network')": 0,
  });
  const config = anAgent("dev", { timeoutSeconds: 60, instructions: "Be brief." });
  deps.operations.details.set("dev", { config, nextTicks: [] });
  deps.operations.addLog({ agent: "dev", msg: "timeout 120 → 60" });
  await shows({ "#config": /1 min/ });
  await page.getByRole("link", { name: "Instructions" }).click();
  await shows({ ".instructions": "Be brief." });
});

test("an agent's instructions are rendered, or shown as written", async () => {
  const instructions = "# Who you are\n\nA **careful** one, see [docs](https://example.com/).";
  const { shows, press } = await open(`${path}?tab=instructions`, withDetail({ instructions }));
  await shows({
    ".instructions h3": ["Who you are"],
    ".instructions strong": "careful",
    ".instructions a@rel": /noopener/,
  });
  await press("As written");
  await shows({ ".instructions": false, "#file pre": /A \*\*careful\*\* one/ });
});

test("the buttons Run, Run with a prompt, Disable, Enable and Kill work", async () => {
  const { page, shows, press, calledOnly } = await open(path, withDetail());
  await shows({ "#state": "idle" });
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await shows({ "#state": "running" });
  await press("Run with a prompt …");
  await page.getByLabel("Extra instructions").fill("Look at issue 3");
  await page.locator("#prompt-dialog").getByRole("button", { name: "Run" }).click();
  await shows({ "#prompt-dialog": false });
  await press("Kill 2 runs of dev");
  await calledOnly(/^(trigger|kill)/, ["trigger dev null", "trigger dev Look at issue 3"]);
  await press("Really kill 2 runs?");
  await shows({ "#kill": false });
  await press("Disable");
  await press("Enable");
  await calledOnly(/^(set|kill)/, ["killAgent dev", "setEnabled dev false", "setEnabled dev true"]);
});

test("an agent's page shows how many deliveries gather and when they start, and starts them now", async () => {
  const { deps, shows, press, calledOnly } = await open(path, withDetail());
  await shows({ "#start-now": false });
  const gathering = { deliveries: 4, startsAt: ago(-90) };
  deps.operations.setAgent({ name: "dev", gathering });
  await shows({ "#load": /gathering 4, starts in 1 min/ });
  await press("Start now");
  await calledOnly(/^startNow/, ['startNow "dev"']);
});

test("the dialog of Run keeps a rejected prompt, and runs nothing after Escape", async () => {
  const { page, deps, shows, press, calledOnly } = await open(path, withDetail());
  const prompt = page.getByLabel("Extra instructions");
  await press("Run with a prompt …");
  await page.keyboard.type("never mind");
  await page.keyboard.press("Escape");
  await shows({ "#prompt-dialog": false });
  deps.operations.refusal = new Problem("draining", "the scheduler is stopping");
  for (const left of ["Look at issue 5", ""]) {
    await press("Run with a prompt …");
    await prompt.fill("Look at issue 5");
    await page.keyboard.press("Control+Enter");
    if (left !== "") await shows({ ".toast": /the scheduler is stopping/ });
    await expect.poll(() => prompt.inputValue()).toBe(left);
  }
  const run = "trigger dev Look at issue 5";
  await calledOnly(/^trigger/, [run, run]);
});

test("actions that scale = 0 or a missing config forbids are not offered, and the page says why", async () => {
  const { deps, shows } = await open(path, withDetail());
  deps.operations.setAgent({ name: "dev", scale: 0, enabled: false });
  await shows({
    "#disabled": "disabled by scale = 0",
    "#toggle@aria-disabled": "true",
    "#run@title": /Set scale/,
  });
  deps.operations.setAgent({ name: "dev", models: [], scale: 0, enabled: true });
  await shows({
    "#run@title": /no valid config/,
    "#toggle@aria-disabled": null,
    "#disabled": false,
  });
});

test("a removed agent is shown as removed, and can't be run", async () => {
  const { deps, shows } = await open(path, withDetail());
  await shows({ "#state": "idle" });
  deps.operations.removeAgent("dev");
  await shows({ "#gone": true, "#run@aria-disabled": "true" });
});

test("a used-up budget shows its end, and a person can raise it", async () => {
  const deps = withDetail();
  const day = { scope: "agent:dev", window: "2026-11-22", usd: 5, limit: 5, endsAt: ago(-7_300) };
  const limits = [
    { reserved: 0.25, ...day },
    { ...day, reserved: 0, window: "2026-11", limit: null },
  ];
  const forecast = { monthUsd: 3.1, p90Usd: 7 };
  deps.operations.spending.set("day", { rows: [], limits, forecast });
  const { page, shows, press, called, calledOnly } = await open(path, deps);
  await shows({
    "#budget":
      /Today \$5\.00 of \$5\.00, \$0\.25 reserved This month \$5\.00.* Forecast about \$3\.10 a month/,
    "#used-budget": false,
  });
  const usedBudget = { ...day, onLimit: "pause" } as const;
  deps.operations.setAgent({ name: "dev", usedBudget });
  await shows({
    "#used-budget-text": "Daily budget used up: $5.00 of $5.00 spent; resets in 2 h.",
  });
  const raise = page.locator("#used-budget").getByRole("button", { name: "Raise" });
  await raise.click();
  await shows({ "#raise-dialog h2": "Raise the budget of dev" });
  await press("Cancel");
  await calledOnly(/^raise/, []);
  await press("Raise budget");
  await page.getByLabel("US dollars").fill("2.5");
  await page.locator("#raise-dialog").getByRole("button", { name: "Raise" }).click();
  await called("raiseBudget agent:dev 2.5");
  await shows({ "#announcer": "Raised the budget of dev by $2.50" });
  deps.operations.setAgent({ name: "dev", usedBudget: { ...usedBudget, scope: "project" } });
  await shows({ "#used-budget": /^The project's daily budget/ });
  await raise.click();
  await shows({ "#raise-dialog h2": "Raise the budget of the project" });
  await page.keyboard.press("Escape");
  deps.operations.setAgent({ name: "dev", usedBudget: null });
  await shows({ "#used-budget": false });
});
