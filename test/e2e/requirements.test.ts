import { chmod, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { openStore } from "../../src/foundation/store/store.ts";
import { anItem } from "../helpers/agents.ts";
import { ownUser } from "../helpers/command-agents.ts";
import { LiveProject, slowly } from "../helpers/live-project.ts";
import { freePort } from "../helpers/free-port.ts";

let project: LiveProject;
beforeEach(async () => {
  project = await LiveProject.hello();
});

/** Longer than the scheduler takes to look at credentials again. */
const inTime = { timeout: 15_000 };

async function addAgent(name: string, config: string): Promise<void> {
  await project.write(`agents/${name}/SKILL.md`, `---\nname: ${name}\n---\nBe.\n`);
  await project.write(`agents/${name}/config.toml`, `callable = true\n${config}\n${ownUser}`);
}

const store = (field: string) => project.store(field, "sk-ant-of-the-test");
const agent = (name: string) => project.agent(name);
const lastRun = async (name: string) => (await project.history(`agent=${name}`))[0];
const warnings = async () => (await project.status()).scheduler.warnings;
const exitOf = async (name: string) => (await project.al("run", name)).code;

test("a misspelt credential is an error with a suggestion until it is stored", async () => {
  await store("acme_token/default/token");
  await addAgent("dev", 'models = ["scripted"]\ncredentials = ["acme_tokn"]');
  const scheduler = await project.start();
  await scheduler.waitForOutput(/dev .*credential acme_tokn is missing/);
  const row = await agent("dev");
  expect(row).toMatchObject({
    state: "blocked",
    blockedBy: "requirement",
    warning: null,
    enabled: true,
  });
  expect(row?.error).toMatch(/^agents\/dev\/config\.toml {2}credential acme_tokn is missing: /);
  expect(row?.error).toContain('did you mean "acme_token"?');
  expect(row?.error).toContain("al creds add acme_tokn --field <field>");
  const stdout = await project.print("stat");
  expect(stdout).toMatch(/^dev +blocked: requirement /m);
  expect(stdout).toMatch(/^error dev: agents\/dev\/config\.toml {2}credential acme_tokn/m);
  expect(stdout).toMatch(/^hello +(idle|running) /m);
  expect(await project.print("logs", "dev")).toContain("acme_tokn is missing");

  expect((await project.al("run", "dev")).stderr).toContain("acme_tokn is missing");
  expect(await lastRun("dev")).toMatchObject({ outcome: "rejected" });

  await store("acme_tokn/default/token");
  await expect.poll(() => agent("dev"), inTime).toMatchObject({ state: "idle", error: null });
  await scheduler.waitForOutput(/dev .*all requirements of its runs are met/);
  expect(await exitOf("dev")).toBe(0);

  await rm(join(project.home, "credentials/acme_tokn"), { recursive: true });
  await expect
    .poll(() => agent("dev"), inTime)
    .toMatchObject({ state: "blocked", blockedBy: "requirement" });
});

test("a primary model without its key is a warning if a fallback has its key, and runs use the fallback", async () => {
  await addAgent("dev", 'models = ["claude", "scripted"]\ncredentials = []');
  await addAgent("late", 'models = ["scripted", "claude"]\ncredentials = []');
  await addAgent("stuck", 'models = ["claude"]\ncredentials = []');
  const scheduler = await project.start();
  await scheduler.waitForOutput(/stuck .*anthropic_key is missing/);
  const why = /credential anthropic_key is missing: .*; al creds add anthropic_key$/;
  await expect.poll(() => agent("dev"), inTime).toMatchObject({ state: "idle", error: null });
  expect((await agent("dev"))?.warning).toMatch(why);
  expect((await agent("dev"))?.warning).toContain('runs take "scripted" instead');
  expect((await agent("late"))?.warning).toMatch(why);
  expect(await agent("stuck")).toMatchObject({
    state: "blocked",
    blockedBy: "requirement",
    warning: null,
  });
  const stdout = await project.print("stat");
  expect(stdout).toMatch(/^warning dev: config\.toml {2}model "claude" can't be used, runs take/m);

  expect(await exitOf("dev")).toBe(0);
  expect(await lastRun("dev")).toMatchObject({ outcome: "succeeded" });
  const log = await project.print("logs", "dev");
  expect(log).toContain('session starts with model "scripted"');

  await store("anthropic_key/default/key");
  for (const name of ["dev", "late", "stuck"]) {
    await expect
      .poll(() => agent(name), inTime)
      .toMatchObject({ state: "idle", error: null, warning: null });
  }
});

test("a harness command that is missing is an error, and runs are rejected until it is installed", async () => {
  const bin = project.path("bin");
  await project.write("bin/README", "");
  const harness = '[harness]\ntype = "llm-cli"\ncommand = "claude"';
  await addAgent("dev", `models = ["scripted"]\ncredentials = []\n${harness}`);
  const PATH = `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`;
  const scheduler = await project.start({ env: { PATH } });
  await scheduler.waitForOutput(/dev .*harness\.command "claude" is not there/);
  const row = await agent("dev");
  expect(row).toMatchObject({ state: "blocked", blockedBy: "requirement" });
  expect(row?.error).toContain("install it: npm install -g @anthropic-ai/claude-code");
  expect(await exitOf("dev")).not.toBe(0);
  expect(await lastRun("dev")).toMatchObject({ outcome: "rejected" });

  await project.write("bin/claude", "#!/bin/sh\nexit 3\n");
  await chmod(join(bin, "claude"), 0o700);
  await expect.poll(() => agent("dev"), inTime).toMatchObject({ state: "idle", error: null });
  await project.al("run", "dev");
  expect(await lastRun("dev")).toMatchObject({ outcome: "failed" });

  // Nothing looks for a command that was there, but the next run does.
  await rm(join(bin, "claude"));
  await project.al("run", "dev");
  await expect
    .poll(async () => (await agent("dev"))?.error, inTime)
    .toContain('harness.command "claude" is not there');
});

test("a directory with only a SKILL.md is reported when it appears, until it is an agent", async () => {
  const scheduler = await project.start();
  expect(await warnings()).toEqual([]);
  await project.write("agents/bare/SKILL.md", "---\nname: Bare\n---\nBe.\n");
  await scheduler.waitForOutput(/agents\/bare .*no config\.toml; al config bare makes one/);
  expect(await warnings()).toEqual([expect.stringMatching(/^agents\/bare {2}is not an agent: /)]);
  const stdout = await project.print("stat");
  expect(stdout).toMatch(/^warning agents\/bare {2}is not an agent: .*al config bare makes one$/m);

  await addAgent("bare", 'models = ["scripted"]\ncredentials = []');
  await expect.poll(warnings, inTime).toEqual([]);
  await addAgent("whole", 'models = ["scripted"]\ncredentials = []');
  await expect.poll(() => agent("whole"), inTime).toMatchObject({ state: "idle" });
  await project.write("agents/gone/SKILL.md", "Be.\n");
  await expect.poll(warnings, inTime).toHaveLength(1);
  await rm(project.path("agents/gone"), { recursive: true });
  await expect.poll(warnings, inTime).toEqual([]);
  expect(scheduler.output().match(/but no config\.toml/g)).toHaveLength(2);
  expect(scheduler.output()).not.toMatch(/agents\/whole .*no config\.toml/);
});

test("work for an agent whose directory is missing at the start runs once the directory exists", async () => {
  await project.write(".al/README", "");
  const stored = openStore(project.dir);
  await stored.work.enqueue([anItem("left-behind", "hello")]);
  stored.close();
  await rename(project.path("agents/hello"), project.path("elsewhere"));
  const { waitForOutput } = await project.start();
  const entry = async () => (await project.history()).find(({ id }) => id === "left-behind");
  await waitForOutput(/hello.+queued/);
  expect(await entry()).toMatchObject({ outcome: null, deadLetter: false });
  await rename(project.path("elsewhere"), project.path("agents/hello"));
  await expect.poll(entry, slowly).toMatchObject({ outcome: "succeeded", deadLetter: false });
});

test("an unknown model causes one warning, also if it is added after the start", async () => {
  const model = (name: string, provider: string, id: string) =>
    `\n[models.${name}]\nprovider = "${provider}"\nmodel = "${id}"\n`;
  await project.append("config.toml", model("next", "openai", "gpt-6"));
  const { waitForOutput, output } = await project.start();
  await waitForOutput(/model next: "gpt-6" is not in the list of openai's models/);
  await project.append("config.toml", model("later", "xai", "grok-5"));
  await waitForOutput(/model later: "grok-5" is not in the list of xai's models/);
  expect(output().match(/"gpt-6" is not in the list/g)).toHaveLength(1);
});

test("a DOCKER_HOST of another machine is an agent's error that names the [cluster] setting", async () => {
  const config = "agents/hello/config.toml";
  await project.edit(config, /^type = .*\nrun_as = .*$/m, 'type = "container"');
  await project.start({ env: { DOCKER_HOST: "ssh://build-1" } });
  await expect
    .poll(async () => (await agent("hello"))?.error, inTime)
    .toMatch(/DOCKER_HOST is ssh:\/\/build-1, .*engine = "docker".+under \[cluster\]/);
});

test("an edited port takes effect until webhooks open the gateway at it, then only at the next start", async () => {
  const [before, after, later] = [await freePort(), await freePort(), await freePort()];
  await project.edit("config.toml", "port = 8080", `port = ${before}`);
  const { waitForOutput, output } = await project.start({ webUi: false, anyPort: false });
  await project.edit("config.toml", `${before}`, `${after}`);
  await waitForOutput(new RegExp(`gateway\\.port ${before} → ${after}`));
  await project.append("config.toml", '\n[webhooks.hub]\ntype = "github"\nallowUnsigned = true\n');
  const url = `http://localhost:${after}`;
  await waitForOutput(new RegExp(`the gateway listens at ${url}`));
  expect((await fetch(`${url}/health`)).status).toBe(200);
  expect(output()).not.toContain("changes with the next start");
  await project.edit("config.toml", `${after}`, `${later}`);
  await waitForOutput(/\[gateway\] changes with the next start/);
  expect((await fetch(`${url}/health`)).status).toBe(200);
});
