import { slow } from "../helpers/made-day/agents.ts";
import { startLiveDay, unwilling } from "../helpers/made-day/live-day.ts";
import { failing, failure, skipping } from "../helpers/made-day/made-runs.ts";
import { runAl, type TestScheduler } from "../helpers/scheduler.ts";

let scheduler: TestScheduler;

beforeAll(async () => {
  scheduler = await startLiveDay();
}, 120_000);
afterAll(async () => {
  await scheduler.kill();
  await scheduler.project.remove();
});

async function al(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runAl(scheduler.project, args);
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  return `${stdout}${stderr}`;
}

test("one command shows what an agent is doing", async () => {
  const row = async (): Promise<string> =>
    (await al("stat")).split("\n").find((line) => line.includes(slow)) ?? "";
  await expect.poll(row, { timeout: 30_000, interval: 1_000 }).toContain("waiting for the health");
  await expect.poll(() => al("logs", slow), { timeout: 20_000 }).toMatch(/check \d+: not yet/);
});

test("one command shows why an agent didn't run", async () => {
  expect(await al("history", "-a", unwilling, "--refused")).toMatch(/actions?: wants opened/);
  expect(await al("history", "-a", skipping, "--refused")).toContain("all runners are busy");
});

test("one command shows what a run returned", async () =>
  expect(await al("show", "report-web")).toMatch(/Returned +\{\s+"summary": "Report \d+ of web/));

test("one command shows what an agent's runs cost", async () =>
  expect(await al("cost", failing)).toMatch(/\$\d+\.\d\d/));

test("one command shows what changed since an agent's last success", async () => {
  const difference = await al("show", failing, "--diff");
  expect(difference).toMatch(/^- +"host": "ledger-old.acme.test"$/m);
  expect(difference).toMatch(/^\+ +"host": "ledger.acme.test"$/m);
});

test("one command shows when an error first appeared", async () => {
  const found = await al("logs", "--grep", `"${failure}"`, "-a", failing, "--oldest", "-n", "1");
  expect(found).toMatch(new RegExp(`${failing}-[a-z]{8}`));
  expect(found.match(/connect ECONNREFUSED/g)?.length).toBeGreaterThan(0);
});
