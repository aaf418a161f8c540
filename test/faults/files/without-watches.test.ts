import { rm, writeFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openSse } from "../../bench/sse-client.ts";
import { runAl, startTestScheduler } from "../../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../../helpers/scheduler.ts";
import { webhookProject } from "../../features/webhooks/webhook-project.ts";
import { agentDir, appendLine, configOf, dueAt, looksAt, putAgent } from "./live.ts";
import { isLong } from "../../helpers/long.ts";

const preload = new URL("../../helpers/no-watches.ts", import.meta.url).href;

/** A live scheduler on a system that has so many watches left. */
async function started(left: number, error = "ENOSPC"): Promise<TestScheduler> {
  const project = await webhookProject();
  onTestFinished(() => project.remove());
  for (const name of ["first", "second", "third"]) await putAgent(project, name, dueAt(1));
  const env = envOf(left, error);
  const scheduler = await startTestScheduler(project, { env });
  onTestFinished(async () => {
    await scheduler.stop();
  });
  return scheduler;
}

function envOf(left: number, error = "ENOSPC"): NodeJS.ProcessEnv {
  const more = { AL_WATCHES_LEFT: String(left), AL_WATCH_ERROR: error };
  return { NODE_OPTIONS: `--import ${preload}`, ...more };
}

const warning = /can't watch more files \(.*(?:ENOSPC|EMFILE).*\); they are polled instead/;

async function followsEverything(scheduler: TestScheduler): Promise<void> {
  const { project } = scheduler;
  const { names, inForce } = looksAt(scheduler);
  await writeFile(configOf(project, "first"), dueAt(11));
  await inForce("first", 11);
  await putAgent(project, "late", dueAt(12));
  await inForce("late", 12);
  await rm(agentDir(project, "second"), { recursive: true });
  await expect.poll(names).toEqual(["first", "late", "third"]);
  await writeFile(configOf(project, "late"), dueAt(13));
  await inForce("late", 13);
}

test.each([
  ["fewer than folders", 4, "ENOSPC"] as const,
  ...(isLong
    ? ([
        ["none", 0, "ENOSPC"],
        ["too few open files", 0, "EMFILE"],
      ] as const)
    : []),
])("a scheduler without file watches (%s) warns and polls every file", async (...of) => {
  const [, left, error] = of;
  const scheduler = await started(left, error);
  await scheduler.waitForOutput(warning);
  await followsEverything(scheduler);
  const { recentLogs } = await looksAt(scheduler).status();
  expect(recentLogs.map(({ msg }) => msg).join("\n")).toMatch(warning);
  expect(scheduler.output().match(new RegExp(warning, "g"))).toHaveLength(1);
});

test("agents for which no watch is left later are polled", async () => {
  // The project, its agents and their three folders; some more for logs and credentials.
  const scheduler = await started(12);
  const { project } = scheduler;
  await looksAt(scheduler).inForce("first", 1);
  expect(scheduler.output()).not.toMatch(warning);
  for (let n = 0; n < 12; n++) await putAgent(project, `more-${n}`, dueAt(20));
  await scheduler.waitForOutput(warning);
  await followsMore(scheduler);
});

async function followsMore(scheduler: TestScheduler): Promise<void> {
  const { inForce } = looksAt(scheduler);
  for (const n of [0, 11]) await inForce(`more-${n}`, 20);
  await writeFile(configOf(scheduler.project, "more-11"), dueAt(21));
  await inForce("more-11", 21);
}

test("a log without watches is followed within a second", async () => {
  const scheduler = await started(0);
  const agent = "first";
  const client = await openSse(scheduler, `/dashboard/api/logs/${agent}/stream`);
  onTestFinished(() => client.close());
  const delays: number[] = [];
  for (let n = 0; n < 5; n++) {
    const msg = `line number ${n}`;
    const seen = client.waitFor(msg);
    const began = performance.now();
    await appendLine(scheduler.project, agent, msg);
    delays.push((await seen).at - began);
    await wait(130);
  }
  // The aim is half a second; of five lines not all meet a machine that has other work.
  expect(Math.min(...delays)).toBeLessThan(700);
  expect(Math.max(...delays)).toBeLessThan(3_000);
});

test("the doctor reports exhausted watches with a fix", async () => {
  const project: TestProject = await webhookProject();
  onTestFinished(() => project.remove());
  const told = await runAl(project, ["doctor", "--check"], envOf(0));
  expect(told.stdout).toMatch(/warning +watches +.*ENOSPC[^]*fix: .*fs\.inotify\.max_user_watches/);
  const fine = await runAl(project, ["doctor", "--check"]);
  expect(fine.stdout).toMatch(/^ok +watches +the system reports changes of files/m);
});
