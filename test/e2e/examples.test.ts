import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { HistoryPage } from "../../src/foundation/contracts/history.ts";
import type { StatusSnapshot } from "../../streams/status/wire.ts";
import { copyProject, runAl, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

let project: TestProject;
let scheduler: TestScheduler;

afterEach(async () => {
  await scheduler.stop();
  await project.remove();
});

async function start(example: string): Promise<void> {
  project = await copyProject(`examples/${example}`);
  scheduler = await startTestScheduler(project);
}

/** Runs a script of the example as its README says. */
function runScript(
  name: string,
  ...args: string[]
): Promise<{ code: number | null; stdout: string }> {
  const child = spawn(process.execPath, [join(project.dir, name), ...args], {
    env: { ...process.env, AL_HOME: project.home },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk));
  return new Promise((done) => child.on("close", (code) => done({ code, stdout })));
}

async function status(): Promise<StatusSnapshot> {
  return (await (await scheduler.api("/control/status")).json()) as StatusSnapshot;
}

async function history(): Promise<HistoryPage["triggers"]> {
  const answer = await scheduler.api("/api/stats/triggers");
  return ((await answer.json()) as HistoryPage).triggers;
}

describe("examples/hello", () => {
  test("runs by hand and tells what it said, which tools it called and what it used", async () => {
    await start("hello");
    const { code, stdout, stderr } = await runAl(project, ["run", "hello"]);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toContain("Good to see you");
    expect(stdout).toContain("bash: date");
    expect(stdout).toMatch(/\d+ tokens/);
    expect(stdout).toContain("run succeeded after");
    const [agent] = (await status()).agents;
    expect(agent).toMatchObject({ name: "hello", state: "idle", lastOutcome: "succeeded" });
    expect(agent?.statusText).toBe("said hello");
    expect(agent?.nextRunAt).not.toBeNull();
  });
});

describe("examples/webhook", () => {
  const send = (...args: string[]) => runScript("send.mjs", "--url", scheduler.url, ...args);

  test("a signed delivery starts the agent, once", async () => {
    await start("webhook");
    const first = await send("--delivery", "one");
    expect(first).toMatchObject({ code: 0 });
    expect(first.stdout).toContain('"matched":[{"agent":"triage"}]');
    const again = await send("--delivery", "one");
    expect(again.stdout).toContain('"duplicate":true');
    await expect.poll(history, { timeout: 20_000 }).toMatchObject([
      {
        kind: "webhook",
        agent: "triage",
        event: "issues",
        action: "opened",
        outcome: "succeeded",
      },
    ]);
  });

  test("a delivery that is signed with another secret starts nothing", async () => {
    await start("webhook");
    await send();
    const bad = await send("--bad-signature");
    expect(bad.code).toBe(1);
    expect(bad.stdout).toMatch(/^401 /);
    expect((await history()).filter(({ agent }) => agent === "triage")).toHaveLength(1);
  });
});

describe("examples/budget", () => {
  test("the run waits at its cap, and returns all that it wrote once the cap is raised", async () => {
    await start("budget");
    const run = runAl(project, ["run", "writer", "--json"]);
    const [text, all] = [async () => (await status()).agents[0]?.statusText, { timeout: 60_000 }];
    await expect.poll(text, all).toMatch(/^waits for money until .*\(\$3\.\d\d of \$4\.00\)/);
    await runAl(project, ["budget", "raise", "writer", "5"]);
    const { code, stdout } = await run;
    expect(code).toBe(0);
    const { value } = JSON.parse(stdout) as { readonly value: string };
    expect(value.split("\n")).toHaveLength(8);
  }, 120_000);
});

describe("examples/hot-reload", () => {
  const files = () => {
    const dir = join(project.dir, "agents/tick");
    return readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), "utf8")]);
  };

  test("the edits show, the nonsense with its place, and the neighbour never notices", async () => {
    await start("hot-reload");
    const before = files();
    const neighbour = (await status()).agents.find(({ name }) => name === "tock");
    expect(await runScript("edit.mjs", "2")).toMatchObject({ code: 0 });
    const { output, waitForOutput } = scheduler;
    await waitForOutput(/schedule "\*\/2 \* \* \* \*" → "\* \* \* \* \*"/);
    expect(output()).toMatch(/agents\/tick\/config\.toml:\d+:\d+.*every day/);
    const after = (await status()).agents;
    expect(after.find(({ name }) => name === "tick")).toMatchObject({ error: null });
    expect(after.find(({ name }) => name === "tock")?.nextRunAt).toBe(neighbour?.nextRunAt);
    expect(files()).toEqual(before);
  });

  test("edits that are interrupted leave the files as they were", async () => {
    await start("hot-reload");
    const before = files();
    const child = spawn(process.execPath, [join(project.dir, "edit.mjs"), "60"]);
    child.stdout.once("data", () => child.kill("SIGINT"));
    expect(await new Promise((done) => child.on("close", done))).toBe(130);
    expect(files()).toEqual(before);
  });
});
