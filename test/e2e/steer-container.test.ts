import { expect, test } from "vitest";
import type { RunView } from "../../src/interfaces/views/run-view.ts";
import { sleepingProject } from "../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, testEngine } from "../helpers/docker.ts";
import { slowly } from "../helpers/live-project.ts";

const { engine, missing } = await testEngine();

test.skipIf(missing !== null)(
  "a run in a container receives a message, and another container continues its session",
  { timeout: engineSetupMs },
  async () => {
    await defaultTestImage(engine);
    const project = await sleepingProject(engine, { sleepSeconds: 3 });
    await project.start();
    const view = (instanceId: string) => project.json<RunView>(`/api/runs/${instanceId}`);
    const ended = async (instanceId: string) => {
      await expect.poll(async () => (await view(instanceId)).outcome, slowly).toBe("succeeded");
      return view(instanceId);
    };

    expect(await project.trigger("boxed")).toEqual([202]);
    await expect.poll(() => project.messages("boxed", "tool"), slowly).toHaveLength(1);
    const first = (await project.latest("boxed"))?.instanceId ?? "";
    await project.print("steer", first, "Leave the logs alone.");
    const receivedAt = expect.any(String) as string;
    const messages = [{ text: "Leave the logs alone.", receivedAt }];
    expect(await ended(first)).toMatchObject({ isKept: true, messages });
    expect(await project.messages("boxed", "said")).toEqual(["before", "after"]);

    const next = (await project.print("continue", first, "Go on.")).trim();
    expect(await ended(next)).toMatchObject({ continues: first, prompt: "Go on.", isKept: true });
    // The script counts the turns of the first run, too.
    expect(await project.messages("boxed", "said")).toEqual(["before", "after", "(end of script)"]);
  },
);
