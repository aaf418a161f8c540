import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HistoryPage } from "../../src/foundation/contracts/history.ts";
import { projectId, projectLabel } from "../../src/runtime/runners/container/labels.ts";
import type { StatusSnapshot } from "../../streams/status/wire.ts";
import { sleepingProject } from "../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, testEngine } from "../helpers/docker.ts";
import { startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

const { engine, missing } = await testEngine();
const patience = { timeout: 60_000, interval: 100 };

describe.skipIf(missing !== null)("an image that was removed", { timeout: 150_000 }, () => {
  let project: TestProject;
  let scheduler: TestScheduler;
  beforeAll(async () => {
    await defaultTestImage(engine);
    project = await sleepingProject(engine, { sleepSeconds: 0 });
    // Of this test alone, as it is removed.
    const own = randomBytes(8).toString("hex");
    const dockerfile = `FROM al-agent:latest\nRUN sleep 4 && echo ${own}\n`;
    await writeFile(join(project.dir, "agents/boxed/Dockerfile"), dockerfile);
    scheduler = await startTestScheduler(project);
  }, engineSetupMs);
  afterAll(async () => {
    await scheduler.stop();
    await project.remove();
  });

  async function boxed() {
    const answer = await scheduler.api("/control/status");
    const { agents } = (await answer.json()) as StatusSnapshot;
    return agents.find(({ name }) => name === "boxed");
  }
  async function runs() {
    const answer = await scheduler.api("/api/stats/triggers?kind=manual");
    return ((await answer.json()) as HistoryPage).triggers;
  }
  function images() {
    const filters = { label: [`${projectLabel}=${projectId(project.dir)}`] };
    return engine.calls().listImages({ filters });
  }

  test("is rebuilt at once, and a run that comes meanwhile starts when it is ready", async () => {
    await expect.poll(images, patience).toHaveLength(1);
    await expect.poll(boxed, patience).toMatchObject({ state: "idle", error: null });
    const [image] = await images();
    await engine
      .calls()
      .getImage(image?.Id ?? "")
      .remove({ force: true });

    await expect.poll(boxed, patience).toMatchObject({ state: "building" });
    const answer = await scheduler.api("/control/trigger/boxed", { method: "POST" });
    expect(await answer.json()).toMatchObject({ queued: true, instanceId: null });
    await expect.poll(runs, patience).toMatchObject([{ outcome: "succeeded", attempt: 1 }]);
    expect(await images()).toHaveLength(1);
    const [run] = await runs();
    // It waited for the image, which takes four seconds to build, before its time began.
    const waitedMs = Date.parse(run?.startedAt ?? "") - Date.parse(run?.at ?? "");
    expect(waitedMs).toBeGreaterThan(1000);
  });
});
