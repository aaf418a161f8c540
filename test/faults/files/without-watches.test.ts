import { openSse } from "../../bench/sse-client.ts";
import { LiveProject } from "../../helpers/live-project.ts";
import { runAl } from "../../helpers/scheduler.ts";
import { webhookProject } from "../../features/webhooks/webhook-project.ts";
import { appendLine, dueAt } from "./live.ts";
import { pause } from "../../helpers/pause.ts";

const preload = new URL("../../helpers/no-watches.ts", import.meta.url).href;
/** A system that has no watch left. */
const env = { NODE_OPTIONS: `--import ${preload}`, AL_WATCHES_LEFT: "0" };

test("a log is followed even if the system allows no more file watches", async () => {
  const agent = "first";
  const project = new LiveProject(await webhookProject({ [agent]: dueAt(1) }));
  await project.start({ env });
  await project.scheduler.waitForOutput(
    /can't watch more files \(.*ENOSPC.*\); they are polled instead/,
  );
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

test("the doctor reports exhausted file watches with a fix", async () => {
  const project = new LiveProject(await webhookProject());
  const told = await runAl(project, ["doctor", "--check"], env);
  expect(told.stdout).toMatch(/warning +watches +.*ENOSPC[^]*fix: .*fs\.inotify\.max_user_watches/);
  const fine = await project.al("doctor", "--check");
  expect(fine.stdout).toMatch(/^ok +watches +the system reports changes of files/m);
});
