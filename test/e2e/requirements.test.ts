import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { HistoryPage } from "../../src/foundation/contracts/history.ts";
import type { AgentStatus, StatusSnapshot } from "../../streams/status/wire.ts";
import { copyProject, runAl, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

let project: TestProject;
let scheduler: TestScheduler | null;
beforeEach(async () => {
  scheduler = null;
  project = await copyProject("examples/hello");
});
afterEach(async () => {
  await scheduler?.stop();
  await project.remove();
});

const runtime = '[runtime]\ntype = "host-user"\nrun_as = "$USER"\n';
/** Longer than a look at credentials takes to come. */
const inTime = { timeout: 15_000 };

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, text, { mode: 0o600 });
}

async function addAgent(name: string, config: string): Promise<void> {
  const dir = join(project.dir, "agents", name);
  await write(join(dir, "SKILL.md"), `---\nname: ${name}\n---\nBe.\n`);
  await write(join(dir, "config.toml"), `callable = true\n${config}\n${runtime}`);
}

function store(field: string, secret = "a-secret-of-the-test"): Promise<void> {
  return write(join(project.home, "credentials", field), secret);
}

async function status(): Promise<StatusSnapshot> {
  const answer = await scheduler?.api("/control/status");
  return (await answer?.json()) as StatusSnapshot;
}

async function agent(name: string): Promise<AgentStatus | undefined> {
  return (await status()).agents.find((one) => one.name === name);
}

async function lastRun(name: string) {
  const answer = await scheduler?.api(`/api/stats/triggers?agent=${name}`);
  return ((await answer?.json()) as HistoryPage).triggers[0];
}

test("a misspelt credential is an error from the start on, with what was meant, until it is stored", async () => {
  await store("acme_token/default/token");
  await addAgent("dev", 'models = ["scripted"]\ncredentials = ["acme_tokn"]');
  scheduler = await startTestScheduler(project);
  await scheduler.waitForOutput(/dev .*credential acme_tokn is missing/);
  const row = await agent("dev");
  expect(row).toMatchObject({ state: "error", warning: null, enabled: true });
  expect(row?.error).toMatch(/^agents\/dev\/config\.toml {2}credential acme_tokn is missing: /);
  expect(row?.error).toContain('did you mean "acme_token"?');
  expect(row?.error).toContain("al creds add acme_tokn --field <field>");
  const { stdout } = await runAl(project, ["stat"]);
  expect(stdout).toMatch(/^dev +error /m);
  expect(stdout).toMatch(/^error dev: agents\/dev\/config\.toml {2}credential acme_tokn/m);
  expect(stdout).toMatch(/^hello +(idle|running) /m);
  expect((await runAl(project, ["logs", "dev"])).stdout).toContain("acme_tokn is missing");

  expect((await runAl(project, ["run", "dev"])).stderr).toContain("acme_tokn is missing");
  expect(await lastRun("dev")).toMatchObject({ outcome: "rejected" });

  await store("acme_tokn/default/token");
  await expect.poll(() => agent("dev"), inTime).toMatchObject({ state: "idle", error: null });
  await scheduler.waitForOutput(/dev .*all requirements of its runs are met/);
  expect((await runAl(project, ["run", "dev"])).code).toBe(0);

  await rm(join(project.home, "credentials/acme_tokn"), { recursive: true });
  await expect.poll(() => agent("dev"), inTime).toMatchObject({ state: "error" });
});

test("a primary model without its key is a warning where a fallback has what it needs, and runs take that", async () => {
  await addAgent("dev", 'models = ["claude", "scripted"]\ncredentials = []');
  await addAgent("late", 'models = ["scripted", "claude"]\ncredentials = []');
  await addAgent("stuck", 'models = ["claude"]\ncredentials = []');
  scheduler = await startTestScheduler(project);
  await scheduler.waitForOutput(/stuck .*anthropic_key is missing/);
  const why = /credential anthropic_key is missing: .*; al creds add anthropic_key$/;
  await expect.poll(() => agent("dev"), inTime).toMatchObject({ state: "idle", error: null });
  expect((await agent("dev"))?.warning).toMatch(why);
  expect((await agent("dev"))?.warning).toContain('runs take "scripted" instead');
  expect((await agent("late"))?.warning).toMatch(why);
  expect(await agent("stuck")).toMatchObject({ state: "error", warning: null });
  const { stdout } = await runAl(project, ["stat"]);
  expect(stdout).toMatch(/^warning dev: config\.toml {2}model "claude" can't be used, runs take/m);

  expect((await runAl(project, ["run", "dev"])).code).toBe(0);
  expect(await lastRun("dev")).toMatchObject({ outcome: "succeeded" });
  const { stdout: log } = await runAl(project, ["logs", "dev"]);
  expect(log).toContain('session starts with model "scripted"');

  await store("anthropic_key/default/key", "sk-ant-of-the-test");
  for (const name of ["dev", "late", "stuck"]) {
    await expect
      .poll(() => agent(name), inTime)
      .toMatchObject({ state: "idle", error: null, warning: null });
  }
});

test("a harness command that is not installed is an error until it is, and runs are rejected meanwhile", async () => {
  const bin = join(project.dir, "bin");
  await mkdir(bin);
  const harness = '[harness]\ntype = "llm-cli"\ncommand = "claude"';
  await addAgent("dev", `models = ["scripted"]\ncredentials = []\n${harness}`);
  const PATH = `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`;
  scheduler = await startTestScheduler(project, { env: { PATH } });
  await scheduler.waitForOutput(/dev .*harness\.command "claude" is not there/);
  const row = await agent("dev");
  expect(row).toMatchObject({ state: "error" });
  expect(row?.error).toContain("install it: npm install -g @anthropic-ai/claude-code");
  expect((await runAl(project, ["run", "dev"])).code).not.toBe(0);
  expect(await lastRun("dev")).toMatchObject({ outcome: "rejected" });

  await write(join(bin, "claude"), "#!/bin/sh\nexit 3\n");
  await chmod(join(bin, "claude"), 0o700);
  await expect.poll(() => agent("dev"), inTime).toMatchObject({ state: "idle", error: null });
  await runAl(project, ["run", "dev"]);
  expect(await lastRun("dev")).toMatchObject({ outcome: "failed" });

  // Nothing looks for a command that was there, but the next run does.
  await rm(join(bin, "claude"));
  await runAl(project, ["run", "dev"]);
  await expect
    .poll(async () => (await agent("dev"))?.error, inTime)
    .toContain('harness.command "claude" is not there');
});

test("a directory with a SKILL.md only is reported when it appears, until it is an agent", async () => {
  scheduler = await startTestScheduler(project);
  expect((await status()).scheduler.warnings).toEqual([]);
  await write(join(project.dir, "agents/bare/SKILL.md"), "---\nname: Bare\n---\nBe.\n");
  await scheduler.waitForOutput(/agents\/bare .*no config\.toml; al config bare makes one/);
  const { warnings } = (await status()).scheduler;
  expect(warnings).toEqual([expect.stringMatching(/^agents\/bare {2}is not an agent: /)]);
  const { stdout } = await runAl(project, ["stat"]);
  expect(stdout).toMatch(/^warning agents\/bare {2}is not an agent: .*al config bare makes one$/m);

  await addAgent("bare", 'models = ["scripted"]\ncredentials = []');
  await expect.poll(async () => (await status()).scheduler.warnings, inTime).toEqual([]);
  await addAgent("whole", 'models = ["scripted"]\ncredentials = []');
  await expect.poll(() => agent("whole"), inTime).toMatchObject({ state: "idle" });
  await write(join(project.dir, "agents/gone/SKILL.md"), "Be.\n");
  await expect.poll(async () => (await status()).scheduler.warnings, inTime).toHaveLength(1);
  await rm(join(project.dir, "agents/gone"), { recursive: true });
  await expect.poll(async () => (await status()).scheduler.warnings, inTime).toEqual([]);
  expect(scheduler.output().match(/but no config\.toml/g)).toHaveLength(2);
  expect(scheduler.output()).not.toMatch(/agents\/whole .*no config\.toml/);
});
