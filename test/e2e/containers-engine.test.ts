import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HistoryPage } from "../../src/foundation/contracts/history.ts";
import type { StatusSnapshot } from "../../streams/status/wire.ts";
import { messagesOfBoxed, sleepingProject } from "../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, testEngine } from "../helpers/docker.ts";
import { engineProxy } from "../helpers/engine-proxy.ts";
import type { EngineProxy } from "../helpers/engine-proxy.ts";
import { startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

const { engine, missing } = await testEngine();
const patience = { timeout: 60_000 };

describe.skipIf(missing !== null)("a container engine", { timeout: 150_000 }, () => {
  let folder: string;
  let project: TestProject;
  let proxy: EngineProxy;
  let scheduler: TestScheduler;
  beforeAll(async () => {
    await defaultTestImage(engine);
    folder = await mkdtemp(join(tmpdir(), "al-engine-"));
    proxy = engineProxy(join(folder, "engine.sock"), engine.address());
    project = await sleepingProject(engine, { sleepSeconds: 3 });
    scheduler = await startTestScheduler(project, { env: { DOCKER_HOST: proxy.host } });
  }, engineSetupMs);
  afterAll(async () => {
    await scheduler.stop();
    await proxy.close();
    await project.remove();
    await rm(folder, { recursive: true });
  });

  async function boxed() {
    const answer = await scheduler.api("/control/status");
    const { agents } = (await answer.json()) as StatusSnapshot;
    return agents.find(({ name }) => name === "boxed");
  }
  async function outcomes(): Promise<readonly (string | null)[]> {
    const answer = await scheduler.api("/api/stats/triggers?kind=manual");
    const { triggers } = (await answer.json()) as HistoryPage;
    return triggers.map(({ outcome }) => outcome);
  }
  const trigger = async () =>
    (await scheduler.api("/control/trigger/boxed", { method: "POST" })).status;
  const away = () => expect.poll(boxed, patience);

  test("that is missing at the start is shown with the reason, and work waits for it", async () => {
    const reason = expect.stringContaining(
      `no container engine answers at ${proxy.host}`,
    ) as string;
    await away().toMatchObject({ state: "blocked", error: reason });
    expect((await fetch(`${scheduler.url}/health`)).status).toBe(200);
    expect(await trigger()).toBe(202);
    await away().toMatchObject({ queued: 1, running: 0, state: "blocked" });
    await proxy.open();
    await expect.poll(outcomes, patience).toEqual(["succeeded"]);
    expect(await boxed()).toMatchObject({ state: "idle", error: null, queued: 0 });
  });

  test("that stops while nothing runs is noticed at once, and work waits for it", async () => {
    await proxy.close();
    await away().toMatchObject({ state: "blocked", running: 0 });
    expect(await trigger()).toBe(202);
    await away().toMatchObject({ queued: 1 });
    expect(await outcomes()).toHaveLength(2);
    await proxy.open();
    await expect.poll(outcomes, patience).toEqual(["succeeded", "succeeded"]);
    expect(await boxed()).toMatchObject({ state: "idle", error: null });
  });

  test("that stops during a run is followed again when it is back, and the run succeeds once", async () => {
    expect(await trigger()).toBe(202);
    await away().toMatchObject({ running: 1 });
    await expect.poll(() => messagesOfBoxed(project, "tool"), patience).toHaveLength(3);
    await proxy.close();
    await away().toMatchObject({
      running: 1,
      error: expect.stringContaining("no container engine") as string,
    });
    await proxy.open();
    await expect.poll(outcomes, patience).toEqual(["succeeded", "succeeded", "succeeded"]);
    await away().toMatchObject({ state: "idle", error: null });
    expect(await messagesOfBoxed(project, "said")).toEqual(
      Array.from({ length: 3 }, () => ["before", "after"]).flat(),
    );
  });
});
