import { readdir } from "node:fs/promises";
import { containersOfProject, sleepingProject } from "../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, testEngine } from "../helpers/docker.ts";
import type { LiveProject } from "../helpers/live-project.ts";

const { engine, missing } = await testEngine();
const patience = { timeout: 60_000 };

describe.skipIf(missing !== null)(
  "a scheduler that is killed while a container runs",
  { timeout: 150_000 },
  () => {
    let project: LiveProject;
    beforeAll(() => defaultTestImage(engine), engineSetupMs);

    /** Starts a run and kills its scheduler as soon as its tool call is logged. */
    async function crash(sleepSeconds: number): Promise<void> {
      project = await sleepingProject(engine, { sleepSeconds });
      await project.start();
      await project.trigger("boxed");
      await expect.poll(() => messages("tool"), patience).toHaveLength(1);
      await project.scheduler.kill();
    }

    const messages = (kind: string) => project.messages("boxed", kind);
    const history = () => project.history("kind=manual");
    const left = () => containersOfProject(engine, project.dir);
    const ended = () => expect.poll(history, patience);

    test("is followed by one that adopts the run: it succeeds once, with every line once", async () => {
      await crash(3);
      expect(await left()).toHaveLength(1);
      const { waitForOutput } = await project.start();
      await waitForOutput(/run resumed, started manually \S+ m?s ago/);
      await ended().toMatchObject([{ outcome: "succeeded", attempt: 1, exitCode: 0 }]);
      expect(await messages("said")).toEqual(["before", "after"]);
      expect(await messages("tool")).toHaveLength(1);
      expect(await messages("tool-result")).toHaveLength(1);
      await expect.poll(left, patience).toEqual([]);
      const records = () => readdir(project.path(".al/run/containers"));
      await expect.poll(records, patience).toEqual([]);
    });

    test("is followed by one that retries a run whose container is gone", async () => {
      await crash(1);
      for (const id of await left()) await engine.calls().getContainer(id).remove({ force: true });
      await project.start();
      await ended().toMatchObject([
        { outcome: "succeeded", attempt: 2 },
        { outcome: "lost", attempt: 1 },
      ]);
    });
  },
);
