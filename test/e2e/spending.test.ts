import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { StatusSnapshot } from "../../streams/status/wire.ts";
import type { SpendAnswer } from "../../src/foundation/contracts/spend-report.ts";
import { copyProject, runAl, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

let project: TestProject;
let scheduler: TestScheduler | null = null;

afterEach(async () => {
  await scheduler?.kill();
  scheduler = null;
  await project.remove();
});

async function spendingOf(by: string): Promise<SpendAnswer> {
  const answer = await scheduler?.api(`/api/spend?by=${by}`);
  return (await answer?.json()) as SpendAnswer;
}

async function spentToday(): Promise<number | undefined> {
  const answer = await scheduler?.api("/control/status");
  const { agents } = (await answer?.json()) as StatusSnapshot;
  return agents.find(({ name }) => name === "hello")?.spentToday?.usd;
}

test("what a run spends is in the status, the report, the metrics, al cost, and there after a restart", async () => {
  project = await copyProject("examples/hello");
  const config = join(project.dir, "config.toml");
  const priced = 'provider = "scripted"\nprice = { input = 1000, output = 5000 }';
  const text = await readFile(config, "utf8");
  await writeFile(
    config,
    `${text.replace('provider = "scripted"', priced)}\n[budget]\nmonth = 500\n`,
  );
  const agent = join(project.dir, "agents/hello/config.toml");
  const own = await readFile(agent, "utf8");
  await writeFile(agent, own.replace("* * * * *", "0 0 1 * *"));
  scheduler = await startTestScheduler(project);
  await scheduler.api("/control/trigger/hello", { method: "POST" });
  await expect.poll(spentToday, { timeout: 60_000 }).toBeGreaterThan(0);
  await expect
    .poll(async () => (await spendingOf("agent")).forecast, { timeout: 60_000 })
    .not.toBeNull();
  const { rows, limits } = await spendingOf("agent");
  const usd = rows[0]?.usd ?? 0;
  expect(rows).toMatchObject([{ key: "hello", unpriced: 0 }]);
  expect((await spendingOf("model")).rows).toMatchObject([{ key: "scripted", usd }]);
  expect(limits.find(({ scope, limit }) => scope === "project" && limit === 500)?.usd).toBe(usd);
  expect(await spentToday()).toBe(usd);
  const metrics = (await (await scheduler.api("/metrics")).text()).split("\n");
  const calls = 'almanac_model_calls_total{agent="hello",model="scripted",status="200"}';
  expect(metrics).toContain(`${calls} ${rows[0]?.calls ?? 0}`);
  const printed = await runAl(project, ["cost"]);
  expect(printed.stdout).toMatch(/^hello +\$/m);
  expect(printed.stdout).toMatch(/^project +\d{4}-\d\d +\$.* of \$500\.00$/m);
  const { stdout: log } = await runAl(project, ["logs", "hello"]);
  expect(log).toMatch(/INFO +\d+ tokens \(\$\d+\.\d\d\)$/m);
  expect(log).toMatch(/run succeeded after .* s \(\$\d+\.\d\d\)$/m);
  await scheduler.stop();
  scheduler = await startTestScheduler(project);
  expect(await spentToday()).toBe(usd);
});
