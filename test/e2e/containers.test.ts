import { hostname, userInfo } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { StatusSnapshot } from "../../streams/status/wire.ts";
import { containerProject } from "../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, testEngine } from "../helpers/docker.ts";
import { runAl, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

const { engine, missing } = await testEngine();

describe.skipIf(missing !== null)("examples/container", () => {
  let project: TestProject;
  let scheduler: TestScheduler;
  beforeAll(async () => {
    await defaultTestImage(engine);
    project = await containerProject(engine);
    scheduler = await startTestScheduler(project);
  }, engineSetupMs);
  afterAll(async () => {
    await scheduler.stop();
    await project.remove();
  });

  async function agent(name: string) {
    const answer = await scheduler.api("/control/status");
    const { agents } = (await answer.json()) as StatusSnapshot;
    return agents.find((each) => each.name === name);
  }

  test(
    "examples/container builds the Dockerfile and completes a run in its container",
    async () => {
      const { code, stdout, stderr } = await runAl(project, ["run", "boxed"]);
      expect({ code, stderr }).toMatchObject({ code: 0 });
      expect(stdout).toContain("user: al (10001)");
      expect(stdout).toMatch(/host: boxed-[a-z2-7]{8}/);
      expect(stdout).toMatch(/network: lo$/m);
      expect(stdout).toContain("root folder: read-only");
      expect(stdout).toContain("gone when the run is over");
      expect(stdout).toContain("not here");
      expect(stdout).toContain("run succeeded after");
      expect(await agent("boxed")).toMatchObject({ state: "idle", lastOutcome: "succeeded" });
    },
    engineSetupMs,
  );

  test("its agent without a Dockerfile completes a session as the scheduler's user", async () => {
    const { code, stdout, stderr } = await runAl(project, ["run", "beside"]);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toContain(`user ${userInfo().username} on ${hostname()}`);
    expect(stdout).toContain("run succeeded after");
    expect(await agent("beside")).toMatchObject({ state: "idle", lastOutcome: "succeeded" });
  });
});
