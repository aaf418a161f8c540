import { existsSync } from "node:fs";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { HistoryEntry, HistoryPage } from "../../src/foundation/contracts/history.ts";
import { copyProject, runAl, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

let project: TestProject;
let scheduler: TestScheduler | null;
beforeEach(async () => {
  scheduler = null;
  project = await copyProject("examples/hello");
  const config = join(project.dir, "config.toml");
  const text = await readFile(config, "utf8");
  // A tenth of a cent for each token: the first request alone costs more than a dollar.
  const price = "price = { input = 1000, output = 1000 }";
  await writeFile(config, text.replace('provider = "scripted"', `provider = "scripted"\n${price}`));
});
afterEach(async () => {
  await scheduler?.stop();
  await project.remove();
});

const agentFile = () => join(project.dir, "agents/hello/config.toml");

async function setBudget(lines: string): Promise<void> {
  const text = await readFile(agentFile(), "utf8");
  await writeFile(agentFile(), text.replace(/^schedule.*$/m, "callable = true"));
  await appendFile(agentFile(), `\n[budget]\n${lines}\n`);
}

/** A run finds out that the day can't pay a call; then work is to wait. */
async function useUpDay(): Promise<TestScheduler> {
  await setBudget('run = 500\nday = 0.02\nonLimit = "stop"');
  scheduler = await startTestScheduler(project);
  expect((await runAl(project, ["run", "hello"])).code).toBe(125);
  await writeFile(agentFile(), (await readFile(agentFile(), "utf8")).replace("stop", "pause"));
  await scheduler.waitForOutput(/work waits: budget: the budget of agent hello for/);
  return scheduler;
}

async function history(): Promise<readonly HistoryEntry[]> {
  const { stdout } = await runAl(project, ["history", "--json"]);
  return (JSON.parse(stdout) as HistoryPage).triggers;
}

test("a run that can't pay its model ends over_budget, and succeeds once its agent's budget is raised", async () => {
  await setBudget("run = 0.01");
  scheduler = await startTestScheduler(project);
  const refused = await runAl(project, ["run", "hello"]);
  expect(refused.code).toBe(125);
  const [entry] = await history();
  expect(entry).toMatchObject({
    outcome: "over_budget",
    exitCode: 125,
    deadLetter: true,
    reason: expect.stringMatching(
      /^this run's budget: \$0\.00 of \$0\.01 is spent; the call needs at least \$\d.*al budget raise run:hello-\w{8} <usd>$/,
    ) as string,
  });
  await writeFile(
    agentFile(),
    (await readFile(agentFile(), "utf8")).replace("run = 0.01", "run = 500\nday = 0.02"),
  );
  await scheduler.waitForOutput(/budget\.run 0\.01 → 500/);
  const daily = await runAl(project, ["run", "hello"]);
  expect(daily.code).toBe(125);
  const raised = await runAl(project, ["budget", "raise", "hello", "500"]);
  expect(raised.stdout).toMatch(
    /^the budget of hello is raised by \$500\.00\n\d{4}-\d\d-\d\d {2}\$0\.00 of \$500\.02\n$/,
  );
  expect((await runAl(project, ["run", "hello"])).code).toBe(0);
});

test("a run that was refused its call ends over_budget under the scheduler that adopts it", async () => {
  await setBudget("run = 0.01");
  const [at, go] = [join(project.dir, "at"), join(project.dir, "go")];
  const hook = `touch ${at}; until [ -e ${go} ]; do sleep 0.1; done`;
  await appendFile(agentFile(), `\n[hooks]\npost = [${JSON.stringify(hook)}]\n`);
  scheduler = await startTestScheduler(project);
  await scheduler.api("/control/trigger/hello", { method: "POST" });
  await expect.poll(() => existsSync(at), { timeout: 30_000 }).toBe(true);
  await scheduler.kill();
  scheduler = await startTestScheduler(project);
  await writeFile(go, "");
  await expect
    .poll(async () => (await history())[0], { timeout: 30_000 })
    .toMatchObject({
      outcome: "over_budget",
      attempt: 1,
      reason: expect.stringMatching(/^this run's budget/) as string,
    });
});

test("a run that can't pay one model does not try its fallback", async () => {
  await setBudget("run = 0.01");
  const config = join(project.dir, "config.toml");
  const second = '\n[models.second]\nprovider = "scripted"\nscript = "hello.script.toml"\n';
  await appendFile(config, second);
  const text = await readFile(agentFile(), "utf8");
  await writeFile(agentFile(), text.replace(/^models.*$/m, 'models = ["scripted", "second"]'));
  scheduler = await startTestScheduler(project);
  expect((await runAl(project, ["run", "hello"])).code).toBe(125);
});

test("what passed a percentage of its limit is in the log", async () => {
  await setBudget("run = 500\nday = 100\nwarnAt = [1]");
  scheduler = await startTestScheduler(project);
  expect((await runAl(project, ["run", "hello"])).code).toBe(0);
  await scheduler.waitForOutput(
    /the budget of agent hello for \d{4}-\d\d-\d\d: \$\d+\.\d\d of \$100\.00 is spent, that is 1 % or more/,
  );
});

test("a budget of what is not there is not raised", async () => {
  await setBudget("run = 5");
  scheduler = await startTestScheduler(project);
  const unknown = await runAl(project, ["budget", "raise", "helo", "5"]);
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("hello")]);
  const over = await runAl(project, ["budget", "raise", "hello-abcdefgh", "5"]);
  expect([over.code, over.stderr]).toEqual([1, expect.stringContaining("is running")]);
  const amount = await runAl(project, ["budget", "raise", "hello", "much"]);
  expect([amount.code, amount.stderr]).toEqual([
    2,
    expect.stringContaining("much is not an amount"),
  ]);
});

test("work for an agent whose day is used up waits for money, and is refused once the agent stops at its limit", async () => {
  const started = await useUpDay();
  const trigger = () => started.api("/control/trigger/hello", { method: "POST" });
  expect(await (await trigger()).json()).toMatchObject({ queued: true, instanceId: null });
  expect((await history())[0]).toMatchObject({ outcome: null, startedAt: null });
  await writeFile(agentFile(), (await readFile(agentFile(), "utf8")).replace("pause", "stop"));
  await started.waitForOutput(/budget\.onLimit "pause" → "stop"/);
  const refused = await trigger();
  expect([refused.status, await refused.json()]).toMatchObject([
    409,
    {
      error: "refused",
      detail: expect.stringMatching(/^budget: the budget of agent hello/) as string,
    },
  ]);
  await expect
    .poll(async () => (await history()).map(({ outcome }) => outcome))
    .toEqual(["rejected", "over_budget"]);
});

test("work that waits for money runs when the budget is raised", async () => {
  const started = await useUpDay();
  await started.api("/control/trigger/hello", { method: "POST" });
  const stat = async () => (await runAl(project, ["stat"])).stdout;
  await expect
    .poll(stat)
    .toMatch(
      /^warning hello waits for money: \$0\.00 of its \$0\.02 a day .* begins in .*: al budget raise hello <usd>$/m,
    );
  await runAl(project, ["budget", "raise", "hello", "500"]);
  await started.waitForOutput(/its budget pays calls to models again/);
  await expect.poll(stat).not.toContain("waits for money");
  await expect
    .poll(async () => (await history())[0]?.outcome, { timeout: 30_000 })
    .toBe("succeeded");
});
