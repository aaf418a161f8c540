import { ownUser } from "../helpers/command-agents.ts";
import { containerProject } from "../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, testEngine } from "../helpers/docker.ts";
import { LiveProject } from "../helpers/live-project.ts";
import { addScripted, bash } from "../helpers/scripted-agents.ts";

const { engine, missing } = await testEngine();
const patience = { timeout: engineSetupMs / 2 };

/** Ends runs in their sessions, whose post hooks print the outcome: a person, or their timeout in seconds. */
async function expectOutcomes(project: LiveProject, runtime: string, timeout: number) {
  for (const [agent, seconds] of Object.entries({ killed: 120, late: timeout })) {
    const hooks = `[hooks]\npost = ['sleep 1; echo "outcome $AL_OUTCOME"']\n`;
    const config = `timeout = ${seconds}\n${runtime}${hooks}`;
    await addScripted(project, agent, { turns: bash("sleep 100"), config });
  }
  await project.start();
  await project.trigger("killed", "late");
  await expect.poll(() => project.messages("killed", "tool"), patience).toHaveLength(1);
  await project.print("kill", "killed");
  for (const [agent, outcome] of Object.entries({ killed: "killed", late: "timed_out" })) {
    await expect.poll(() => project.latest(agent), patience).toMatchObject({ outcome });
    expect(await project.messages(agent, "hook")).toContain(`outcome ${outcome}`);
  }
}

test("the post hooks of a run get the reason that a person killed the run or that it timed out", async () =>
  expectOutcomes(await LiveProject.hello(), ownUser, 6));

test.skipIf(missing !== null)(
  "the post hooks of a run in a container get the reason that a person killed the run or that it timed out",
  async () => {
    await defaultTestImage(engine);
    await expectOutcomes(await containerProject(engine), "", 12);
  },
  engineSetupMs,
);
