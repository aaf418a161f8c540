import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HistoryEntry, HistoryPage } from "../../../src/foundation/contracts/history.ts";
import { agentConfig } from "../../bench/bench-project.ts";
import { nearFullMinute, startTestScheduler } from "../../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../../helpers/scheduler.ts";
import { webhookProject } from "../../features/webhooks/webhook-project.ts";
import { dueAt, looksAt, putAgent } from "../files/live.ts";

const maxReruns = 3;
const maxCallDepth = 4;

let project: TestProject;
let scheduler: TestScheduler;

/** Runs as its hook says and asks no model. */
const hooked = (command: string): string =>
  `scale = 3\nhooks.pre = [${JSON.stringify(`${command}; al-exit`)}]\n`;

beforeAll(async () => {
  project = await webhookProject();
  const file = join(project.dir, "config.toml");
  const limits = `maxReruns = ${maxReruns}\nmaxCallDepth = ${maxCallDepth}\n`;
  await writeFile(file, `${limits}${await readFile(file, "utf8")}`);
  // Each hands the work on to the other, and doesn't wait: nothing but the depth can end it.
  await putAgent(project, "ping", dueAt(1, hooked("echo on | al-subagent pong")));
  await putAgent(project, "pong", dueAt(1, hooked("echo on | al-subagent ping")));
  const everyMinute = agentConfig(`schedule = "* * * * *"\n${hooked("al-rerun")}`);
  await putAgent(project, "again", everyMinute);
  scheduler = await startTestScheduler(project, { env: nearFullMinute() });
});

afterAll(async () => {
  await scheduler.stop();
  await project.remove();
});

async function history(query: string): Promise<readonly HistoryEntry[]> {
  const answer = await scheduler.api(`/api/stats/triggers?limit=200&${query}`);
  return ((await answer.json()) as HistoryPage).triggers;
}

test("the depth of calls ends two agents that call each other for ever", async () => {
  await scheduler.api("/control/trigger/ping", { method: "POST" });
  const calls = async (): Promise<number> => (await history("kind=agent-call")).length;
  await expect.poll(calls, { timeout: 20_000 }).toBe(maxCallDepth);
  // One more may not come: the last run has ended without a queued call.
  const idle = { running: 0, queued: 0 };
  for (const name of ["ping", "pong"]) {
    await expect.poll(() => looksAt(scheduler).agent(name)).toMatchObject(idle);
  }
  expect(await calls()).toBe(maxCallDepth);
  expect(await logOf(maxCallDepth % 2 === 0 ? "ping" : "pong")).toMatch(/too deep|too_deep/i);
});

async function logOf(agent: string): Promise<string> {
  const day = new Date().toISOString().slice(0, 10);
  return readFile(join(project.dir, `.al/logs/${agent}-${day}.log`), "utf8");
}

test("an agent that always asks for a rerun runs again maxReruns times, and then by schedule", async () => {
  const runs = async () => {
    const entries = await history("agent=again&kind=cron");
    return entries.filter(({ outcome }) => outcome !== "missed").toReversed();
  };
  const ofOneTick = maxReruns + 2;
  await expect
    .poll(async () => (await runs()).length, { timeout: 80_000, interval: 200 })
    .toBeGreaterThanOrEqual(ofOneTick);
  const [first, ...others] = (await runs()).slice(0, ofOneTick);
  const outcomes = [first, ...others].map((one) => one?.outcome);
  expect(outcomes).toEqual([
    ...Array.from({ length: maxReruns + 1 }, () => "succeeded"),
    "skipped",
  ]);
  expect(others.at(-1)?.reason).toBe(`it ran again ${maxReruns} times in a row`);
}, 100_000);
