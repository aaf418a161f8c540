import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { HistoryEntry, HistoryPage } from "../../src/foundation/contracts/history.ts";
import { containerProject, containersOfProject } from "../helpers/container-project.ts";
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

/** Looks at what both agents did with and for each other. */
async function workedTogether(): Promise<void> {
  const told = ({ agent, kind, caller, outcome }: HistoryEntry) =>
    [agent, kind, caller?.replace(/-[a-z2-7]{8}$/, ""), outcome].join(" ");
  await expect
    .poll(async () => (await history()).map(told), { timeout: 60_000 })
    .toEqual([
      "writer agent-call reviewer succeeded",
      "reviewer agent-call writer succeeded",
      "writer manual  succeeded",
    ]);
  const [callBack, review, writing] = await history();
  expect(writing).toMatchObject({
    ...{ attempt: 1, value: { published: "Agents can work together now." } },
  });
  expect(callBack).toMatchObject({ instanceId: writing?.instanceId, deadLetter: false });
  expect(callBack?.reason).toContain("waited for it");
  expect(review).toMatchObject({ caller: writing?.instanceId, value: { words: 5 } });
  const locks = await scheduler.api("/locks/status");
  expect(await locks.json()).toEqual({ locks: [] });
}

describe("examples/teamwork", () => {
  it("has two agents hand work to each other, with a lock between them", async () => {
    project = await copyProject("examples/teamwork");
    scheduler = await startTestScheduler(project);
    const { code, stdout, stderr } = await runAl(project, ["run", "writer", "--json"]);
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ outcome: "succeeded", value: { published: "Agents can work together now." } },
    });
    await workedTogether();
  }, 120_000);

  it.skipIf(missing !== null)(
    "does so in containers without a network, one of them paused while it waits, over kill -9 of the scheduler",
    async () => {
      project = await containerProject(engine, "examples/teamwork");
      await edit("reviewer.script.toml", /reading the draft; sleep 3/, "reading; sleep 10");
      for (const agent of ["writer", "reviewer"]) {
        await edit(`agents/${agent}/config.toml`, /\[runtime\][^]*$/, "");
      }
      scheduler = await startTestScheduler(project);
      const { status } = await scheduler.api("/control/trigger/writer", { method: "POST" });
      expect(status).toBe(202);
      const isPaused = async () =>
        (await containersOfProject(engine, project.dir, ["paused"])).length > 0;
      await expect.poll(isPaused, { timeout: engineSetupMs, interval: 200 }).toBe(true);
      await scheduler.kill();
      scheduler = await startTestScheduler(project);
      await workedTogether();
    },
    engineSetupMs + 120_000,
  );
});

/** Changes a file of the project. */
async function edit(file: string, pattern: RegExp, replacement: string): Promise<void> {
  const path = join(project.dir, file);
  const text = await readFile(path, "utf8");
  expect(text).toMatch(pattern);
  await writeFile(path, text.replace(pattern, replacement));
}
