import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { HistoryEntry, HistoryPage } from "../../src/contracts/history.ts";
import { containerProject } from "../helpers/container-project.ts";
import { engineSetupMs, testEngine } from "../helpers/docker.ts";
import { copyProject, runAl, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

const { engine, missing } = await testEngine();

let project: TestProject;
let scheduler: TestScheduler;

afterEach(async () => {
  await scheduler.stop();
  await project.remove();
});

async function history(): Promise<readonly HistoryEntry[]> {
  const answer = await scheduler.api("/api/stats/triggers");
  return ((await answer.json()) as HistoryPage).triggers;
}

/** Has the writer run, and looks at what both agents did with and for each other. */
async function worksTogether(): Promise<void> {
  const { code, stdout, stderr } = await runAl(project, ["run", "writer", "--json"]);
  expect(code, stderr).toBe(0);
  const { instanceId, ...run } = JSON.parse(stdout) as HistoryEntry;
  expect(run).toMatchObject({
    outcome: "succeeded",
    value: { published: "Agents can work together now." },
  });
  const told = ({ agent, kind, caller, outcome }: HistoryEntry) =>
    [agent, kind, caller?.replace(/-[a-z2-7]{8}$/, ""), outcome].join(" ");
  await expect
    .poll(async () => (await history()).map(told), { timeout: 60_000 })
    .toEqual([
      "writer agent-call reviewer succeeded",
      "reviewer agent-call writer succeeded",
      "writer manual  succeeded",
    ]);
  const [callBack, review] = await history();
  expect(callBack).toMatchObject({ instanceId, deadLetter: false });
  expect(callBack?.reason).toContain("waited for it");
  expect(review).toMatchObject({ caller: instanceId, value: { words: 5 } });
  const locks = await scheduler.api("/locks/status");
  expect(await locks.json()).toEqual({ locks: [] });
}

describe("examples/teamwork", () => {
  it("has two agents hand work to each other, with a lock between them", async () => {
    project = await copyProject("examples/teamwork");
    scheduler = await startTestScheduler(project);
    await worksTogether();
  }, 120_000);

  it.skipIf(missing !== null)(
    "does so in containers without a network",
    async () => {
      project = await containerProject(engine, "examples/teamwork");
      for (const agent of ["writer", "reviewer"]) {
        const config = join(project.dir, "agents", agent, "config.toml");
        const text = await readFile(config, "utf8");
        await writeFile(config, text.replace(/\[runtime\][^]*$/, ""));
      }
      scheduler = await startTestScheduler(project);
      await worksTogether();
    },
    engineSetupMs + 120_000,
  );
});
