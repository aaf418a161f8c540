import { rename } from "node:fs/promises";
import { forAll, LiveProject } from "../../helpers/live-project.ts";
import { webhookProject, writeAgent } from "../../features/webhooks/webhook-project.ts";
import { dueAt, inForce } from "./live.ts";
import { pause } from "../../helpers/pause.ts";

let project: LiveProject;

forAll(async () => {
  const busy = dueAt(1, 'scale = 1\nhooks.pre = ["sleep 2; al-exit"]\n');
  project = new LiveProject(await webhookProject({ steady: dueAt(1), busy }));
  await project.start();
});

test("removing and restoring the agents folder stops no run and loses no work; later edits take effect", async () => {
  const names = async () => (await project.status()).agents.map(({ name }) => name).sort();
  const busy = () => project.agent("busy");
  const outcomes = async () => (await project.history("agent=busy")).map(({ outcome }) => outcome);
  await project.trigger("busy", "busy");
  await expect.poll(busy).toMatchObject({ running: 1, queued: 1 });
  const [agents, away] = [project.path("agents"), project.path("away")];
  await rename(agents, away);
  // The row of one that runs stays with its run.
  await expect.poll(names).toEqual(["busy"]);
  expect(await project.trigger("busy")).toEqual([404]);
  await pause(1_000, "the folder is away: no run stops meanwhile");
  await rename(away, agents);
  await expect.poll(names).toEqual(["busy", "steady"]);
  // Between two runs none is queued, and none runs yet.
  await expect.poll(outcomes).toEqual(["succeeded", "succeeded"]);
  expect(await busy()).toMatchObject({ running: 0, queued: 0, lastOutcome: "succeeded" });
  await writeAgent(project, "steady", dueAt(26));
  await inForce(project, "steady", 26, 35_000);
}, 120_000);
