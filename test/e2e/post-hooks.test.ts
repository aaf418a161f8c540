import type { HistoryEntry } from "../../src/foundation/contracts/history.ts";
import { containerProject } from "../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, testEngine } from "../helpers/docker.ts";
import { LiveProject } from "../helpers/live-project.ts";

const { engine, missing } = await testEngine();

const script = `[[turns]]
text = "before"
[[turns.tools]]
name = "bash"
arguments = { command = "sleep 60" }

[[turns]]
text = "after"
`;

const agentConfig = (model: string, timeout: number, runtime: string) => `models = ["${model}"]
credentials = []
schedule = "0 0 29 2 *"
timeout = ${timeout}
${runtime}
[hooks]
post = ['sleep 1; echo "outcome $AL_OUTCOME"']
`;

let project: LiveProject;

const isAsleep = (agent: string, timeout: number) =>
  expect.poll(() => project.messages(agent, "tool"), { timeout }).toContain("bash: sleep 60");

async function expectEnd(agent: string, end: Partial<HistoryEntry>): Promise<void> {
  await expect.poll(() => project.latest(agent), { timeout: 40_000 }).toMatchObject(end);
  expect(await project.messages(agent, "hook")).toContain(`outcome ${end.outcome}`);
}

const ownUser = `[runtime]\ntype = "host-user"\nrun_as = "$USER"\n`;

test(
  "the post hooks of a run that its scheduler ends know that a person killed it, or that it timed out",
  { timeout: 60_000 },
  async () => {
    project = await LiveProject.copy("examples/hello");
    await project.write("hello.script.toml", script);
    await project.copyAgent("hello", "slow");
    for (const [agent, timeout] of [
      ["hello", 60],
      ["slow", 3],
    ] as const) {
      const config = agentConfig("scripted", timeout, ownUser);
      await project.write(`agents/${agent}/config.toml`, config);
    }
    await project.start();
    await project.trigger("hello", "slow");
    await isAsleep("hello", 30_000);
    await project.print("kill", "hello");
    await expectEnd("hello", { outcome: "killed" });
    await expectEnd("slow", { outcome: "timed_out", exitCode: 124 });
  },
);

describe.skipIf(missing !== null)("in a container", () => {
  beforeAll(() => defaultTestImage(engine), engineSetupMs);

  test(
    "the post hooks of a run that its scheduler ends in a container know that a person killed it",
    { timeout: engineSetupMs },
    async () => {
      project = await containerProject(engine);
      await project.write("boxed.script.toml", script);
      await project.write("agents/boxed/config.toml", agentConfig("boxed", 60, ""));
      await project.start();
      await project.trigger("boxed");
      await isAsleep("boxed", engineSetupMs / 2);
      await project.print("kill", "boxed");
      await expectEnd("boxed", { outcome: "killed" });
    },
  );
});
