import { LiveProject, slowly } from "../helpers/live-project.ts";
import { clockAhead } from "../helpers/scheduler.ts";

vi.setConfig({ testTimeout: 120_000 });

test("runs that wait for budget release slots, pause timeouts, survive kill -9 of the scheduler and resume after a raise", async () => {
  const project = await LiveProject.copy("examples/budget");
  await project.edit("config.toml", /^/, "scale = 1\n");
  await project.copyAgent("writer", "other", ["day = 4", "day = 400"]);
  const waits = (limit = "4.00") =>
    expect
      .poll(async () => (await project.agent("writer"))?.statusText, slowly)
      .toMatch(new RegExp(`^waits for money until \\d{4}-.*\\(\\$\\S+ of \\$${limit}\\)`));
  const raise = (usd: string) => project.print("budget", "raise", "writer", usd);
  await project.start();
  await project.trigger("writer");
  await waits();
  const instanceId = (await project.latest("writer"))?.instanceId;
  expect(await project.agent("writer")).toMatchObject({ state: "waiting", blockedBy: "budget" });
  expect((await project.al("run", "other")).code).toBe(0);
  await raise("0.01");
  await waits("4.01");

  // After the timeout of a run that began before.
  await project.crash({ env: clockAhead(130_000) });
  await waits("4.01");
  await raise("9");
  /** One session wrote all of it. */
  const value = expect.stringMatching(/^(# \w+\n){7}# \w+$/) as string;
  await expect
    .poll(() => project.latest("writer"), slowly)
    .toMatchObject({ outcome: "succeeded", attempt: 1, value, instanceId });
  expect(await project.print("logs", "writer")).toContain("the model is asked again");
});
