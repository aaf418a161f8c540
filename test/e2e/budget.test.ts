import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { SpendAnswer } from "../../src/features/spend/spend-report.ts";
import { forAll, LiveProject, slowly } from "../helpers/live-project.ts";

vi.setConfig({ testTimeout: 120_000 });
let project: LiveProject;

const configOf = (agent: string) => `agents/${agent}/config.toml`;
const latest = (agent: string) => expect.poll(() => project.latest(agent), slowly);
const raise = (target: string, usd: string) => project.print("budget", "raise", target, usd);
const run = async (agent: string) => (await project.al("run", agent)).code;
const statusTextOf = (agent: string) => async () => (await project.agent(agent))?.statusText;

/** A project with the agent `hello` whose model costs a tenth of a cent for each token: its first request, a dollar. */
async function priced(): Promise<LiveProject> {
  const made = await LiveProject.hello();
  const price = "price = { input = 1000, output = 1000 }";
  await made.edit("config.toml", 'provider = "scripted"', `provider = "scripted"\n${price}`);
  return made;
}

describe("a budget", () => {
  forAll(async () => {
    project = await priced();
    await project.append("config.toml", "\n[budget]\nmonth = 50000\n");
    const agents = { richer: "run = 0.01", waits: 'run = 500\nday = 0.02\nonLimit = "stop"' };
    for (const [name, lines] of Object.entries(agents)) {
      await project.copyAgent("hello", name);
      await project.append(configOf(name), `\n[budget]\n${lines}\n`);
    }
    await project.start();
  });

  test("lets an agent's run succeed once its run's limit and its day's are raised", async () => {
    await project.edit(configOf("richer"), "run = 0.01", "run = 500\nday = 0.02");
    await project.scheduler.waitForOutput(/budget\.run 0\.01 → 500/);
    expect(await run("richer")).toBe(125);
    expect(await raise("richer", "500")).toMatch(
      /^the budget of richer is raised by \$500\.00\n\d{4}-\d\d-\d\d {2}\$0\.00 of \$500\.02\n$/,
    );
    expect(await run("richer")).toBe(0);
  });

  test("starts waiting work when it is raised", async () => {
    expect(await run("waits")).toBe(125);
    await project.edit(configOf("waits"), '"stop"', '"pause"');
    await project.scheduler.waitForOutput(/work waits: budget: the budget of agent waits for/);
    const started = await project.post("/control/trigger/waits");
    expect(await started.json()).toMatchObject({ queued: true, instanceId: null });
    expect(await project.latest("waits")).toMatchObject({ outcome: null, startedAt: null });
    expect(await project.print("stat")).toMatch(
      /^warning waits waits for money: \$0\.00 of its \$0\.02 a day is spent; the call needs at least \$\d\S+; the next day begins in .*: al budget raise waits <usd>$/m,
    );
    await raise("waits", "500");
    await project.scheduler.waitForOutput(/its budget pays calls to models again/);
    await latest("waits").toMatchObject({ outcome: "succeeded" });
    expect(await project.print("stat")).not.toContain("waits waits for money");
  });

  test("counts a run in the status, the report, the metrics, al cost and the log, and keeps that over a restart", async () => {
    expect(await run("hello")).toBe(0);
    const spend = (by: string) => project.json<SpendAnswer>(`/api/spend?by=${by}`);
    const rowOf = ({ rows }: SpendAnswer, name: string) => rows.find(({ key }) => key === name);
    const row = rowOf(await spend("agent"), "hello");
    const { usd = 0, calls = 0 } = row ?? {};
    expect(usd).toBeGreaterThan(0);
    expect(row).toMatchObject({ unpriced: 0 });
    const { rows, limits } = await spend("model");
    const month = limits.find(({ scope, limit }) => scope === "project" && limit === 50_000);
    expect(month?.usd).toBeCloseTo(rows.reduce((sum, one) => sum + one.usd, 0));
    const spentToday = async () => (await project.agent("hello"))?.spentToday?.usd;
    expect(await spentToday()).toBe(usd);
    const metrics = (await (await project.scheduler.api("/metrics")).text()).split("\n");
    const counter = 'almanac_model_calls_total{agent="hello",model="scripted",status="200"}';
    expect(metrics).toContain(`${counter} ${calls}`);
    const printed = await project.print("cost");
    expect(printed).toMatch(/^hello +\$/m);
    expect(printed).toMatch(/^project +\d{4}-\d\d +\$.* of \$50,000\.00$/m);
    const log = await project.print("logs", "hello");
    expect(log).toMatch(/INFO +\d+ tokens \(\$\d+\.\d\d\)$/m);
    expect(log).toMatch(/run succeeded after \S+ m?s \(\$\d+\.\d\d\)$/m);
    await project.scheduler.stop();
    await project.start();
    expect(await spentToday()).toBe(usd);
  });
});

test("a run whose call was rejected ends over_budget under the scheduler that adopts it", async () => {
  project = await priced();
  const [at, go] = [project.path("at"), project.path("go")];
  const hook = `touch ${at}; until [ -e ${go} ]; do sleep 0.1; done`;
  const config = `\n[budget]\nrun = 0.01\n[hooks]\npost = [${JSON.stringify(hook)}]\n`;
  await project.append(configOf("hello"), config);
  await project.start();
  await project.trigger("hello");
  await expect.poll(() => existsSync(at), slowly).toBe(true);
  await project.crash();
  await project.write("go", "");
  const reason = expect.stringMatching(
    /^this run's budget: \$0\.00 of \$0\.01 is spent; the call needs at least \$\d.*\[budget\], then al replay <entry>$/,
  ) as string;
  await latest("hello").toMatchObject({ outcome: "over_budget", attempt: 1, reason });
});

const atDay =
  /^waits for money until \d{4}-\d\d-\d\d \d\d:\d\d \S+: the budget of agent \w+ for \d{4}-/;
const paused = (agent: string, limit = atDay) =>
  expect.poll(statusTextOf(agent), slowly).toMatch(limit);
/** One session wrote all of it. */
const whole = {
  outcome: "succeeded",
  attempt: 1,
  value: expect.stringMatching(/^(# \w+\n){7}# \w+$/) as string,
};
const quickly = { args: ["--grace", "1"] };

test("a run paused at its agent's budget frees its slot, stops its timeout, survives kill -9 of the scheduler and resumes its session after a raise", async () => {
  const timeoutSeconds = 12;
  project = await LiveProject.copy("examples/budget");
  await project.edit("config.toml", /^/, "scale = 1\n");
  await project.copyAgent("writer", "other", ["day = 4", "day = 400"]);
  await project.edit(configOf("writer"), "timeout = 120", `timeout = ${timeoutSeconds}`);
  await project.start(quickly);
  await project.trigger("writer");
  await paused("writer");
  const since = performance.now();
  const instanceId = (await project.latest("writer"))?.instanceId;
  expect(await project.print("stat")).toContain("waits for money");
  expect(await project.agent("writer")).toMatchObject({ state: "waiting", blockedBy: "budget" });
  expect(await run("other")).toBe(0);
  await raise("writer", "0.01");
  await paused("writer", /of \$4\.01\)/);
  expect(await project.latest("writer")).toMatchObject({ outcome: null, instanceId });

  await project.crash(quickly);
  await paused("writer");
  await sleep(Math.max(0, since + timeoutSeconds * 1000 - performance.now()));
  await paused("writer");
  await raise("writer", "9");
  await latest("writer").toMatchObject({ ...whole, instanceId });
  expect(await project.print("logs", "writer")).toContain("the model is asked again");
});

describe("a run at a limit of its budget", () => {
  forAll(async () => {
    project = await LiveProject.copy("examples/budget");
    await project.copyAgent("writer", "disabled");
    await project.start(quickly);
    await project.trigger("disabled", "writer");
  });

  test("resumes after a raise although its agent was disabled meanwhile", async () => {
    await paused("disabled");
    await project.post("/control/agents/disabled/disable");
    await raise("disabled", "9");
    await latest("disabled").toMatchObject(whole);
  });

  test("is interrupted by a stop of the scheduler, and its work is paused after the next start", async () => {
    await paused("writer");
    const instanceId = (await project.latest("writer"))?.instanceId ?? "";
    expect(await project.scheduler.stop()).toBe(0);
    await project.start(quickly);
    expect(await project.json(`/api/runs/${instanceId}`)).toMatchObject({ outcome: "interrupted" });
    await paused("writer");
    expect(await project.latest("writer")).toMatchObject({ attempt: 2, outcome: null });
  });
});
