import { existsSync } from "node:fs";
import { LiveProject, slowly } from "../helpers/live-project.ts";
import { clockAhead } from "../helpers/scheduler.ts";

vi.setConfig({ testTimeout: 120_000 });

test("a run whose model call was rejected ends as over_budget even if another scheduler adopts it", async () => {
  const project = await LiveProject.hello();
  const [at, go] = [project.path("at"), project.path("go")];
  const price = "price = { input = 1000, output = 1000 }";
  await project.edit("config.toml", 'provider = "scripted"', `provider = "scripted"\n${price}`);
  const hook = `touch ${at}; until [ -e ${go} ]; do sleep 0.1; done`;
  const config = `\n[budget]\nrun = 0.01\n[hooks]\npost = [${JSON.stringify(hook)}]\n`;
  await project.append("agents/hello/config.toml", config);
  await project.start();
  await project.trigger("hello");
  await expect.poll(() => existsSync(at), slowly).toBe(true);
  await project.crash();
  await project.write("go", "");
  const reason = expect.stringMatching(
    /^this run's budget: \$0\.00 of \$0\.01 is spent; the call needs at least \$\d.*\[budget\], then al replay <entry>$/,
  ) as string;
  await expect
    .poll(() => project.latest("hello"), slowly)
    .toMatchObject({ outcome: "over_budget", attempt: 1, reason });
});

test("runs that wait for budget release slots, pause timeouts, survive kill -9 of the scheduler and resume after a raise", async () => {
  const quickly = { args: ["--grace", "1"] };
  /** After the timeout of a run that began before. */
  const later = { ...quickly, env: clockAhead(130_000) };
  const project = await LiveProject.copy("examples/budget");
  await project.edit("config.toml", /^/, "scale = 1\n");
  await project.copyAgent("writer", "other", ["day = 4", "day = 400"]);
  await project.copyAgent("writer", "disabled");
  const waits = (agent: string, limit = "4.00") =>
    expect
      .poll(async () => (await project.agent(agent))?.statusText, slowly)
      .toMatch(new RegExp(`^waits for money until \\d{4}-.*\\(\\$\\S+ of \\$${limit}\\)`));
  const raise = (agent: string, usd: string) => project.print("budget", "raise", agent, usd);
  const latest = (agent: string) => expect.poll(() => project.latest(agent), slowly);
  /** One session wrote all of it. */
  const whole = {
    outcome: "succeeded",
    attempt: 1,
    value: expect.stringMatching(/^(# \w+\n){7}# \w+$/) as string,
  };
  await project.start(quickly);
  await project.trigger("writer");
  await waits("writer");
  const instanceId = (await project.latest("writer"))?.instanceId;
  expect(await project.agent("writer")).toMatchObject({ state: "waiting", blockedBy: "budget" });
  expect((await project.al("run", "other")).code).toBe(0);
  await raise("writer", "0.01");
  await waits("writer", "4.01");

  await project.crash(later);
  await waits("writer", "4.01");
  await project.trigger("disabled");
  await waits("disabled");
  await project.post("/control/agents/disabled/disable");
  await raise("disabled", "9");
  await raise("writer", "9");
  await latest("disabled").toMatchObject(whole);
  await latest("writer").toMatchObject({ ...whole, instanceId });
  expect(await project.print("logs", "writer")).toContain("the model is asked again");

  await project.edit("agents/other/config.toml", "day = 400", "day = 10");
  await project.scheduler.waitForOutput(/budget\.day 400 → 10/);
  await project.trigger("other");
  await waits("other", "10.00");
  expect(await project.scheduler.stop()).toBe(0);
  await project.start(later);
  await waits("other", "10.00");
  expect(await project.history("agent=other&limit=2")).toMatchObject([
    { outcome: null, attempt: 2 },
    { outcome: "interrupted", attempt: 1 },
  ]);
});
