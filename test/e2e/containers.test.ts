import { hostname, userInfo } from "node:os";
import { containerProject } from "../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, testEngine } from "../helpers/docker.ts";
import { forAll, type LiveProject } from "../helpers/live-project.ts";

const { engine, missing } = await testEngine();

describe.skipIf(missing !== null)("examples/container", () => {
  let project: LiveProject;
  forAll(async () => {
    await defaultTestImage(engine);
    project = await containerProject(engine);
    await project.start();
  }, engineSetupMs);

  test(
    "builds the Dockerfile and completes a run in its container",
    async () => {
      const stdout = await project.print("run", "boxed");
      expect(stdout).toContain("user: al (10001)");
      expect(stdout).toMatch(/host: boxed-[a-z2-7]{8}/);
      expect(stdout).toMatch(/network: lo$/m);
      expect(stdout).toContain("root folder: read-only");
      expect(stdout).toContain("gone when the run is over");
      expect(stdout).toContain("not here");
      expect(stdout).toContain("run succeeded after");
      expect(await project.agent("boxed")).toMatchObject({
        state: "idle",
        lastOutcome: "succeeded",
      });
    },
    engineSetupMs,
  );

  test("its agent without a Dockerfile completes a session as the scheduler's user", async () => {
    const stdout = await project.print("run", "beside");
    expect(stdout).toContain(`user ${userInfo().username} on ${hostname()}`);
    expect(stdout).toContain("run succeeded after");
    expect(await project.agent("beside")).toMatchObject({
      state: "idle",
      lastOutcome: "succeeded",
    });
  });
});
