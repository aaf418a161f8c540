import { expect, test } from "vitest";
import { agentConfig } from "../../bench/bench-project.ts";
import { forAll, LiveProject } from "../../helpers/live-project.ts";
import { nearFullMinute } from "../../helpers/scheduler.ts";
import { webhookProject } from "../../features/webhooks/webhook-project.ts";
import { dueAt, putAgent } from "../files/live.ts";

const maxReruns = 3;
const maxCallDepth = 4;

let project: LiveProject;

/** Runs as its hook says and asks no model. */
const hooked = (command: string): string =>
  `scale = 3\nhooks.pre = [${JSON.stringify(`${command}; al-exit`)}]\n`;

forAll(async () => {
  project = new LiveProject(await webhookProject());
  const limits = `maxReruns = ${maxReruns}\nmaxCallDepth = ${maxCallDepth}\n`;
  await project.edit("config.toml", /^/, limits);
  // Each hands the work on to the other, and doesn't wait: nothing but the depth can end it.
  await putAgent(project, "ping", dueAt(1, hooked("echo on | al-subagent pong")));
  await putAgent(project, "pong", dueAt(1, hooked("echo on | al-subagent ping")));
  const everyMinute = agentConfig(`schedule = "* * * * *"\n${hooked("al-rerun")}`);
  await putAgent(project, "again", everyMinute);
  await project.start({ env: nearFullMinute() });
});

const history = (query: string) => project.history(`limit=200&${query}`);

test("the depth of calls ends two agents that call each other for ever", async () => {
  await project.trigger("ping");
  const calls = async (): Promise<number> => (await history("kind=agent-call")).length;
  await expect.poll(calls, { timeout: 20_000 }).toBe(maxCallDepth);
  // One more may not come: the last run has ended without a queued call.
  const idle = { running: 0, queued: 0 };
  for (const name of ["ping", "pong"]) {
    await expect.poll(() => project.agent(name)).toMatchObject(idle);
  }
  expect(await calls()).toBe(maxCallDepth);
  expect(await logOf(maxCallDepth % 2 === 0 ? "ping" : "pong")).toMatch(/too deep|too_deep/i);
});

function logOf(agent: string): Promise<string> {
  const day = new Date().toISOString().slice(0, 10);
  return project.read(`.al/logs/${agent}-${day}.log`);
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
