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

describe.skipIf(missing !== null)("a file that a Dockerfile copies", { timeout: 150_000 }, () => {
  let project: TestProject;
  let scheduler: TestScheduler;
  beforeAll(async () => {
    await defaultTestImage(engine);
    project = await sleepingProject(engine, { sleepSeconds: 0, timeoutSeconds: 6 });
    await save("FROM al-agent:latest\nCOPY setup.sh /opt/\nRUN sh /opt/setup.sh\n", "Dockerfile");
    await save("true");
    scheduler = await startTestScheduler(project);
  }, engineSetupMs);
  afterAll(async () => {
    await scheduler.stop();
    await project.remove();
  });

  const save = (text: string, file = "setup.sh"): Promise<void> =>
    writeFile(join(project.dir, "agents/boxed", file), text);
  async function boxed() {
    const answer = await scheduler.api("/control/status");
    const { agents } = (await answer.json()) as StatusSnapshot;
    return agents.find(({ name }) => name === "boxed");
  }
  function images() {
    const filters = { label: [`${projectLabel}=${projectId(project.dir)}`] };
    return engine.calls().listImages({ filters });
  }
  async function runs() {
    const answer = await scheduler.api("/api/stats/triggers?kind=manual");
    return ((await answer.json()) as HistoryPage).triggers;
  }

  test("is in a new image once it is saved, whose build does not count against a run's timeout", async () => {
    await expect.poll(images, patience).toHaveLength(1);
    await expect.poll(boxed, patience).toMatchObject({ state: "idle", error: null });
    // Of this test alone, so that no layer of it is there.
    await save(`sleep 8 && echo ${randomBytes(8).toString("hex")}`);
    await expect.poll(boxed, patience).toMatchObject({ state: "building" });
    const answer = await scheduler.api("/control/trigger/boxed", { method: "POST" });
    expect(await answer.json()).toMatchObject({ queued: true, instanceId: null });
    await expect.poll(runs, patience).toMatchObject([{ outcome: "succeeded", attempt: 1 }]);
  });
});
