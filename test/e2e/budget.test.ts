import { LiveProject, slowly } from "../helpers/live-project.ts";
import { clockAhead } from "../helpers/scheduler.ts";

vi.setConfig({ testTimeout: 120_000 });

test("a run that waits for budget survives kill -9 of the scheduler past its timeout, and resumes after a raise", async () => {
  const project = await LiveProject.copy("examples/budget");
  const waits = () =>
    expect
      .poll(async () => (await project.agent("writer"))?.statusText, slowly)
      .toMatch(/^waits for money until \d{4}-.*\(\$\S+ of \$4\.00\)/);
  await project.start();
  await project.trigger("writer");
  await waits();
  const instanceId = (await project.latest("writer"))?.instanceId;
  expect(await project.agent("writer")).toMatchObject({ state: "waiting", blockedBy: "budget" });

  // After the timeout of a run that began before.
  await project.crash({ env: clockAhead(130_000) });
  await waits();
  await project.print("budget", "raise", "writer", "9");
  /** One session wrote all of it. */
  const value = expect.stringMatching(/^(# \w+\n){7}# \w+$/) as string;
  await expect
    .poll(() => project.latest("writer"), slowly)
    .toMatchObject({ outcome: "succeeded", attempt: 1, value, instanceId });
  expect(await project.print("logs", "writer")).toContain("the model is asked again");
});
