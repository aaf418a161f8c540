import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { projectId, projectLabel } from "../../src/runtime/runners/container/labels.ts";
import { sleepingProject } from "../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, testEngine } from "../helpers/docker.ts";
import type { LiveProject } from "../helpers/live-project.ts";

const { engine, missing } = await testEngine();
const patience = { timeout: 60_000, interval: 100 };
const timeout = engineSetupMs;

describe.skipIf(missing !== null)("the image of an agent's Dockerfile", { timeout }, () => {
  let project: LiveProject;
  /** Of one test alone, so that no layer of it is there. */
  const own = randomBytes(8).toString("hex");
  const boxed = () => expect.poll(() => project.agent("boxed"), patience);
  const runs = () => project.history("kind=manual");
  function images() {
    const filters = { label: [`${projectLabel}=${projectId(project.dir)}`] };
    return engine.calls().listImages({ filters });
  }

  /** Starts a scheduler, and waits until it has the image of these files. */
  async function built(
    files: Readonly<Record<string, string>>,
    timeoutSeconds = 60,
  ): Promise<void> {
    await defaultTestImage(engine);
    project = await sleepingProject(engine, { sleepSeconds: 0, timeoutSeconds });
    for (const [name, text] of Object.entries(files)) {
      await project.write(`agents/boxed/${name}`, text, 0o644);
    }
    await project.start();
    await expect.poll(images, patience).toHaveLength(1);
    await boxed().toMatchObject({ state: "idle", error: null });
  }

  /** A run that is started during the build begins when the image is there. */
  async function expectWaiting(): Promise<void> {
    await boxed().toMatchObject({ state: "building" });
    const started = await project.post("/control/trigger/boxed");
    expect(await started.json()).toMatchObject({ queued: true, instanceId: null });
    await expect.poll(runs, patience).toMatchObject([{ outcome: "succeeded", attempt: 1 }]);
  }

  test("is rebuilt once a file that it copies is saved, which does not count against a run's timeout", async () => {
    const dockerfile = "FROM al-agent:latest\nCOPY setup.sh /opt/\nRUN sh /opt/setup.sh\n";
    await built({ Dockerfile: dockerfile, "setup.sh": "true" }, 6);
    await project.write("agents/boxed/setup.sh", `sleep 8 && echo ${own}`, 0o644);
    await expectWaiting();
  });

  test("is rebuilt at once if it is removed, and a run that comes meanwhile starts when it is ready", async () => {
    await built({ Dockerfile: `FROM al-agent:latest\nRUN sleep 4 && echo ${own}\n` });
    const [{ Id } = { Id: "" }] = await images();
    await engine.calls().getImage(Id).remove({ force: true });
    await expectWaiting();
    expect(await images()).toHaveLength(1);
    const [run] = await runs();
    // It waited for the image, which takes four seconds to build, before its time began.
    const waitedMs = Date.parse(run?.startedAt ?? "") - Date.parse(run?.at ?? "");
    expect(waitedMs).toBeGreaterThan(1000);
  });
});
