import { writeFile } from "node:fs/promises";
import { openSse } from "../../bench/sse-client.ts";
import { LiveProject } from "../../helpers/live-project.ts";
import { runAl } from "../../helpers/scheduler.ts";
import { webhookProject } from "../../features/webhooks/webhook-project.ts";
import { appendLine, configOf, dueAt, inForce, putAgent } from "./live.ts";
import { pause } from "../../helpers/pause.ts";

const preload = new URL("../../helpers/no-watches.ts", import.meta.url).href;

/** A live scheduler on a system that has so many watches left. */
async function started(left: number): Promise<LiveProject> {
  const project = new LiveProject(await webhookProject());
  for (const name of ["first", "second", "third"]) await putAgent(project, name, dueAt(1));
  await project.start({ env: envOf(left) });
  return project;
}

function envOf(left: number): NodeJS.ProcessEnv {
  return { NODE_OPTIONS: `--import ${preload}`, AL_WATCHES_LEFT: String(left) };
}

const warning = /can't watch more files \(.*ENOSPC.*\); they are polled instead/;

test("agents for which no watch is left later are polled", async () => {
  // The project, its agents and their three folders; some more for logs and credentials.
  const project = await started(12);
  await inForce(project, "first", 1);
  expect(project.scheduler.output()).not.toMatch(warning);
  for (let n = 0; n < 12; n++) await putAgent(project, `more-${n}`, dueAt(20));
  await project.scheduler.waitForOutput(warning);
  for (const n of [0, 11]) await inForce(project, `more-${n}`, 20);
  await writeFile(configOf(project, "more-11"), dueAt(21));
  await inForce(project, "more-11", 21);
});

test("a log without watches is followed", async () => {
  const project = await started(0);
  const agent = "first";
  const client = await openSse(project.scheduler, `/dashboard/api/logs/${agent}/stream`);
  onTestFinished(() => client.close());
  for (let n = 0; n < 5; n++) {
    const msg = `line number ${n}`;
    const seen = client.waitFor(msg);
    await appendLine(project, agent, msg);
    await seen;
    await pause(130, "the next line comes in another turn of the poll");
  }
});

test("the doctor reports exhausted watches with a fix", async () => {
  const project = await webhookProject();
  onTestFinished(() => project.remove());
  const told = await runAl(project, ["doctor", "--check"], envOf(0));
  expect(told.stdout).toMatch(/warning +watches +.*ENOSPC[^]*fix: .*fs\.inotify\.max_user_watches/);
  const fine = await runAl(project, ["doctor", "--check"]);
  expect(fine.stdout).toMatch(/^ok +watches +the system reports changes of files/m);
});
