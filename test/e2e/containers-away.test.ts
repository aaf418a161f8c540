import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { HistoryPage } from "../../src/foundation/contracts/history.ts";
import type { StatusSnapshot } from "../../streams/status/wire.ts";
import {
  containersOfProject,
  messagesOfBoxed,
  sleepingProject,
} from "../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, testEngine } from "../helpers/docker.ts";
import { engineProxy } from "../helpers/engine-proxy.ts";
import type { EngineProxy } from "../helpers/engine-proxy.ts";
import { startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

const { engine, missing } = await testEngine();
const patience = { timeout: 60_000 };

describe.skipIf(missing !== null)(
  "a scheduler that restarts while the engine of its runs is unreachable",
  { timeout: 150_000 },
  () => {
    let folder: string;
    let project: TestProject;
    let proxy: EngineProxy;
    let scheduler: TestScheduler | null = null;
    beforeEach(async () => {
      await defaultTestImage(engine);
      folder = await mkdtemp(join(tmpdir(), "al-engine-"));
      proxy = engineProxy(join(folder, "engine.sock"), engine.address());
      await proxy.open();
    }, engineSetupMs);
    afterEach(async () => {
      await scheduler?.stop();
      scheduler = null;
      await proxy.close();
      await project.remove();
      await rm(folder, { recursive: true });
    });

    const start = () => startTestScheduler(project, { env: { DOCKER_HOST: proxy.host } });
    async function boxed() {
      const answer = await scheduler?.api("/control/status");
      const { agents } = (await answer?.json()) as StatusSnapshot;
      return agents.find(({ name }) => name === "boxed");
    }
    async function history() {
      const answer = await scheduler?.api("/api/stats/triggers?kind=manual");
      return ((await answer?.json()) as HistoryPage).triggers;
    }

    /** Kills the scheduler of a run whose tool sleeps, and starts it again without its engine. */
    async function startedWithout(sleepSeconds: number): Promise<void> {
      project = await sleepingProject(engine, { sleepSeconds });
      scheduler = await start();
      await scheduler.api("/control/trigger/boxed", { method: "POST" });
      await expect.poll(() => messagesOfBoxed(project, "tool"), patience).toHaveLength(1);
      await scheduler.kill();
      await proxy.close();
      scheduler = await start();
      await expect.poll(boxed, patience).toMatchObject({ running: 1 });
      expect(await history()).toMatchObject([{ outcome: null, attempt: 1 }]);
    }

    test("resumes a live run once the engine is back", async () => {
      await startedWithout(4);
      await proxy.open();
      await expect.poll(history, patience).toMatchObject([{ outcome: "succeeded", attempt: 1 }]);
      expect(await messagesOfBoxed(project, "said")).toEqual(["before", "after"]);
    });

    test("retries a run that is gone once the engine reports that", async () => {
      await startedWithout(1);
      for (const id of await containersOfProject(engine, project.dir)) {
        await engine.calls().getContainer(id).remove({ force: true });
      }
      await proxy.open();
      await expect.poll(history, patience).toMatchObject([
        { outcome: "succeeded", attempt: 2 },
        { outcome: "lost", attempt: 1 },
      ]);
    });
  },
);
