import type { HistoryEntry } from "../../src/foundation/contracts/history.ts";
import { containerProject, containersOfProject } from "../helpers/container-project.ts";
import { engineSetupMs, testEngine } from "../helpers/docker.ts";
import { LiveProject, slowly } from "../helpers/live-project.ts";

vi.setConfig({ testTimeout: 120_000 });
const { engine, missing } = await testEngine();
let project: LiveProject;

const published = { published: "Agents can work together now." };

/** Expects the traces of both agents of the example that worked with and for each other. */
async function expectTeamwork(): Promise<void> {
  const shortOf = ({ agent, kind, caller, outcome }: HistoryEntry) =>
    [agent, kind, caller?.replace(/-[a-z2-7]{8}$/, ""), outcome].join(" ");
  await expect
    .poll(async () => (await project.history()).map(shortOf), slowly)
    .toEqual([
      "writer agent-call reviewer succeeded",
      "reviewer agent-call writer succeeded",
      "writer manual  succeeded",
    ]);
  const [callBack, review, writing] = await project.history();
  expect(writing).toMatchObject({ attempt: 1, value: published });
  expect(callBack).toMatchObject({ instanceId: writing?.instanceId, deadLetter: false });
  expect(callBack?.reason).toContain("waited for it");
  expect(review).toMatchObject({ caller: writing?.instanceId, value: { words: 5 } });
  expect(await project.json("/locks/status")).toEqual({ locks: [] });
}

test("the agents of examples/teamwork hand work to each other, with a lock between them", async () => {
  project = await LiveProject.copy("examples/teamwork");
  await project.start();
  const run: unknown = JSON.parse(await project.print("run", "writer", "--json"));
  expect(run).toMatchObject({ outcome: "succeeded", value: published });
  await expectTeamwork();
});

test.skipIf(missing !== null)(
  "closed containers of examples/teamwork pause while they wait and survive kill -9 of the scheduler",
  async () => {
    project = await containerProject(engine, "examples/teamwork");
    await project.edit("reviewer.script.toml", "reading the draft; sleep 1", "reading; sleep 6");
    for (const agent of ["writer", "reviewer"]) {
      await project.edit(`agents/${agent}/config.toml`, /\[runtime\][^]*$/, "");
    }
    await project.start();
    expect(await project.trigger("writer")).toEqual([202]);
    const paused = async () => (await containersOfProject(engine, project.dir, ["paused"])).length;
    await expect.poll(paused, { timeout: engineSetupMs, interval: 200 }).toBeGreaterThan(0);
    await project.crash();
    await expectTeamwork();
  },
  engineSetupMs + 120_000,
);
