import { readdir } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { containersOfProject, sleepingProject } from "../helpers/container-project.ts";
import type { SleepTimes } from "../helpers/container-project.ts";
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

    /** Starts a run and kills its scheduler as soon as so many messages of a kind are logged: its tool call. */
    async function crash(times: SleepTimes, kind = "tool", count = 1): Promise<void> {
      project = await sleepingProject(engine, times);
      await project.start();
      await project.trigger("boxed");
      await expect.poll(() => messages(kind), patience).toHaveLength(count);
      await project.scheduler.kill();
    }

    const messages = (kind: string) => project.messages("boxed", kind);
    const history = () => project.history("kind=manual");
    const left = () => containersOfProject(engine, project.dir);
    const ended = () => expect.poll(history, patience);

    test("is followed by one that adopts the run: it succeeds once, with every line once", async () => {
      await crash({ sleepSeconds: 3 });
      expect(await left()).toHaveLength(1);
      const { waitForOutput } = await project.start();
      await waitForOutput(/run resumed, started manually \S+ m?s ago/);
      await ended().toMatchObject([{ outcome: "succeeded", attempt: 1, exitCode: 0 }]);
      expect(await messages("said")).toEqual(["before", "after"]);
      expect(await messages("tool")).toHaveLength(1);
      expect(await messages("tool-result")).toHaveLength(1);
      await expect.poll(left, patience).toEqual([]);
      expect(await readdir(project.path(".al/run/containers"))).toEqual([]);
    });

    test("is followed by one that records the real end time of a run that ended meanwhile, whatever the config", async () => {
      // Without its scheduler no model answers: only what follows the last answer can end.
      await crash({ sleepSeconds: 1, postSeconds: 2 }, "said", 2);
      const [id = ""] = await left();
      const running = async () => (await engine.calls().getContainer(id).inspect()).State.Running;
      await expect.poll(running, patience).toBe(false);
      const before = Date.now();
      await project.write(
        "agents/boxed/config.toml",
        `models = ["boxed"]\ncredentials = ["no_such"]\nschedule = "0 0 29 2 *"\ntimeout = 1\n`,
      );
      await project.start();
      await ended().toMatchObject([{ outcome: "succeeded", attempt: 1 }]);
      expect(await messages("said")).toEqual(["before", "after"]);
      const [entry] = await history();
      expect(Date.parse(entry?.endedAt ?? "")).toBeLessThan(before);
    });

    test("is followed by one that ends the run at the timeout of its first start", async () => {
      await crash({ sleepSeconds: 120, timeoutSeconds: 8 });
      await project.start();
      await ended().toMatchObject([{ outcome: "timed_out", exitCode: 124, attempt: 1 }]);
      const [{ durationMs } = { durationMs: null }] = await history();
      expect(durationMs).toBeGreaterThanOrEqual(8_000);
      expect(durationMs).toBeLessThan(20_000);
      await expect.poll(left, patience).toEqual([]);
    });

    test("is followed by one that retries a run whose container is gone", async () => {
      await crash({ sleepSeconds: 1 });
      for (const id of await left()) await engine.calls().getContainer(id).remove({ force: true });
      await project.start();
      await ended().toMatchObject([
        { outcome: "succeeded", attempt: 2 },
        { outcome: "lost", attempt: 1 },
      ]);
    });
  },
);
