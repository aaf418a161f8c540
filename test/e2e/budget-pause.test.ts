import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { HistoryEntry, HistoryPage } from "../../src/foundation/contracts/history.ts";
import type { StatusSnapshot } from "../../streams/status/wire.ts";
import { copyProject, runAl, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

vi.setConfig({ testTimeout: 120_000 });

const slowly = { timeout: 60_000 };
let project: TestProject;
let scheduler: TestScheduler;
beforeEach(async () => {
  project = await copyProject("examples/budget");
});
afterEach(async () => {
  await scheduler.stop();
  await project.remove();
});

const agentFile = (agent: string) => join(project.dir, "agents", agent, "config.toml");

async function edit(file: string, from: string | RegExp, to: string): Promise<void> {
  const text = await readFile(file, "utf8");
  await writeFile(file, text.replace(from, to));
}

async function trigger(agent: string): Promise<string> {
  const answer = await scheduler.api(`/control/trigger/${agent}`, { method: "POST" });
  const { instanceId } = (await answer.json()) as { readonly instanceId: string };
  return instanceId;
}

async function latest(agent: string): Promise<HistoryEntry | undefined> {
  const answer = await scheduler.api(`/api/stats/triggers?agent=${agent}`);
  return ((await answer.json()) as HistoryPage).triggers[0];
}

async function statusText(): Promise<string | null> {
  const { agents } = (await (await scheduler.api("/control/status")).json()) as StatusSnapshot;
  return agents.find(({ name }) => name === "writer")?.statusText ?? null;
}

const raise = (target: string, usd: string) => runAl(project, ["budget", "raise", target, usd]);
const paused = (limit: RegExp) => expect.poll(statusText, slowly).toMatch(limit);
const ends = (expected: object) =>
  expect.poll(() => latest("writer"), slowly).toMatchObject(expected);

const ofDay = /^waits for money until \d{4}-\d\d-\d\dT.*: the budget of agent writer for \d{4}-/;
const ofRun = /^waits for money: this run's budget \(\$3\.\d\d of \$4\.00\); al budget raise run:/;
/** All of it was written by one session. */
const whole = {
  outcome: "succeeded",
  attempt: 1,
  value: expect.stringMatching(/^(# \w+\n){7}# \w+$/) as string,
};

test("a run pauses at its cap, its place is free, and it goes on in its session when the cap is raised", async () => {
  await edit(join(project.dir, "config.toml"), /^/, "scale = 1\n");
  await cp(join(project.dir, "agents/writer"), join(project.dir, "agents/other"), {
    recursive: true,
  });
  await edit(agentFile("other"), "day = 4", "day = 400");
  scheduler = await startTestScheduler(project);
  const instance = await trigger("writer");
  await paused(ofDay);
  const { stdout } = await runAl(project, ["stat"]);
  expect(stdout).toContain("waits for money");
  expect((await runAl(project, ["run", "other"])).code).toBe(0);
  await raise("writer", "0.01");
  await paused(/of \$4\.01\)/);
  expect(await latest("writer")).toMatchObject({ outcome: null, instanceId: instance });
  await raise("writer", "9");
  await ends({ ...whole, instanceId: instance });
  const log = await runAl(project, ["logs", "writer"]);
  expect(log.stdout).toContain("the budget pays again");
});

test("a run whose own cap is reached goes on when its agent is raised", async () => {
  await edit(agentFile("writer"), "day = 4", "run = 4");
  scheduler = await startTestScheduler(project);
  await trigger("writer");
  await paused(ofRun);
  await raise("writer", "9");
  await ends(whole);
});

test("two caps at once: it goes on when both are raised, by a person and in the config", async () => {
  await edit(agentFile("writer"), "day = 4", "run = 4\nday = 4");
  scheduler = await startTestScheduler(project);
  const instance = await trigger("writer");
  await paused(ofRun);
  await raise(instance, "9");
  await paused(ofDay);
  await edit(agentFile("writer"), "day = 4", "day = 40");
  await ends(whole);
});

test("kill -9 while it waits: the adopted run waits on, with its clock standing, and goes on when it is raised", async () => {
  await edit(agentFile("writer"), "timeout = 120", "timeout = 15");
  scheduler = await startTestScheduler(project);
  await trigger("writer");
  await paused(ofDay);
  await scheduler.kill();
  await new Promise((resolve) => setTimeout(resolve, 12_000));
  scheduler = await startTestScheduler(project);
  await paused(ofDay);
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  await paused(ofDay);
  await raise("writer", "9");
  await ends(whole);
});

test("a person ends it while it waits", async () => {
  scheduler = await startTestScheduler(project);
  const instance = await trigger("writer");
  await paused(ofDay);
  expect((await runAl(project, ["kill", instance])).code).toBe(0);
  await ends({ outcome: "killed", instanceId: instance });
});

test("its agent is disabled while it waits, and it goes on all the same", async () => {
  scheduler = await startTestScheduler(project);
  await trigger("writer");
  await paused(ofDay);
  await scheduler.api("/control/agents/writer/disable", { method: "POST" });
  await raise("writer", "9");
  await ends(whole);
});

test("a scheduler that stops ends it as interrupted, and its work waits for money at the next start", async () => {
  scheduler = await startTestScheduler(project, { args: ["--grace", "1"] });
  const instance = await trigger("writer");
  await paused(ofDay);
  expect(await scheduler.stop()).toBe(0);
  scheduler = await startTestScheduler(project, { args: ["--grace", "1"] });
  const answer = await scheduler.api(`/api/runs/${instance}`);
  expect(await answer.json()).toMatchObject({ outcome: "interrupted" });
  await paused(ofDay);
  expect(await latest("writer")).toMatchObject({ attempt: 2, outcome: null });
});

test("it ends over_budget when its agent is to stop at its limits by now", async () => {
  scheduler = await startTestScheduler(project);
  await trigger("writer");
  await paused(ofDay);
  await edit(agentFile("writer"), 'onLimit = "pause"', 'onLimit = "stop"');
  await ends({ outcome: "over_budget", exitCode: 125, deadLetter: true });
});

test("answers that are used up end it, as no money helps", async () => {
  await edit(agentFile("writer"), "day = 4", "turns = 2");
  scheduler = await startTestScheduler(project);
  await trigger("writer");
  await ends({ outcome: "over_budget", reason: expect.stringContaining("turns = 2") as string });
});
