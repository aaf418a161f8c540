import { execFileSync } from "node:child_process";
import { appendFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { HistoryPage } from "../../src/foundation/contracts/history.ts";
import type { RunDifference, RunView } from "../../src/foundation/contracts/run-view.ts";
import { copyProject, runAl, startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

const canary = "canary-4f9d2c71b0";
let project: TestProject;
let scheduler: TestScheduler | null = null;

afterEach(async () => {
  await scheduler?.kill();
  scheduler = null;
  await project.remove();
});

function git(...args: readonly string[]): string {
  const identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org"];
  return execFileSync("git", ["-C", project.dir, ...identity, ...args], {
    encoding: "utf8",
  }).trim();
}

function commitAll(message: string): string {
  git("add", "--all");
  git("commit", "--quiet", "-m", message);
  return git("rev-parse", "HEAD");
}

/** The example whose agent is only started by hand, with secrets in its environment and in its model's headers. */
async function prepare(): Promise<string> {
  project = await copyProject("examples/hello");
  const agent = join(project.dir, "agents/hello");
  const config = await readFile(join(agent, "config.toml"), "utf8");
  const byHand = config.replace(/^schedule = .*$/m, "callable = true");
  await writeFile(join(agent, "config.toml"), `${byHand}\n[local.env]\nTOKEN = "${canary}-1"\n`);
  const models = await readFile(join(project.dir, "config.toml"), "utf8");
  const headers = `[models.scripted]\nheaders = { x-proxy = "${canary}-header" }`;
  await writeFile(join(project.dir, "config.toml"), models.replace("[models.scripted]", headers));
  await mkdir(join(agent, "scripts"));
  await writeFile(join(agent, "scripts/greet.sh"), "echo hello\n");
  return agent;
}

async function get<Answer>(path: string): Promise<Answer> {
  const answer = await scheduler?.api(path);
  expect(answer?.status).toBe(200);
  return (await answer?.json()) as Answer;
}

/** Runs the agent to its end and until its commit is recorded, if it has one. */
async function run(hasCommit = true): Promise<RunView> {
  const answer = await scheduler?.api("/control/trigger/hello", { method: "POST" });
  const { triggerId } = (await answer?.json()) as { triggerId: string };
  const entry = async () => {
    const { triggers } = await get<HistoryPage>("/api/stats/triggers");
    return triggers.find(({ id }) => id === triggerId);
  };
  await expect.poll(async () => (await entry())?.outcome, { timeout: 20_000 }).toBe("succeeded");
  const instanceId = (await entry())?.instanceId ?? "";
  const view = () => get<RunView>(`/api/runs/${instanceId}`);
  if (hasCommit) await expect.poll(async () => (await view()).version?.commit).toBeTypeOf("string");
  return view();
}

test("each run has the hash of what it ran, the commit, and the difference to the one before", async () => {
  const agent = await prepare();
  git("init", "--quiet");
  await writeFile(join(project.dir, ".gitignore"), ".al/\n");
  const commit = commitAll("begin");
  scheduler = await startTestScheduler(project);

  const first = await run();
  expect(first).toMatchObject({
    agent: "hello",
    kind: "manual",
    outcome: "succeeded",
    receiptId: null,
    version: { commit, dirty: false },
    calls: { received: null, made: [] },
  });
  expect(first.lastWords).toBeTypeOf("string");
  const again = await run();
  expect(again.version).toEqual(first.version);
  const same = await get<RunDifference>(`/api/runs/${again.instanceId}/diff`);
  expect(same).toEqual({
    from: { instanceId: first.instanceId, version: first.version },
    to: { instanceId: again.instanceId, version: first.version },
    ...{ changed: false, text: "" },
  });

  await appendFile(join(agent, "SKILL.md"), "\nGreet twice.\n");
  await scheduler.waitForOutput(/SKILL\.md changed/);
  const config = await readFile(join(agent, "config.toml"), "utf8");
  await writeFile(
    join(agent, "config.toml"),
    config.replace("timeout = 120", "timeout = 60").replace(`${canary}-1`, `${canary}-2`),
  );
  await scheduler.waitForOutput(/timeout.*120.*60/);
  await appendFile(join(agent, "scripts/greet.sh"), "echo again\n");
  const script = join(project.dir, "hello.script.toml");
  const played = await readFile(script, "utf8");
  await writeFile(script, played.replace("Good to see you.", "Good morning."));
  const edited = await run();
  expect(edited.version).toMatchObject({ commit, dirty: true });
  expect(edited.version?.hash).not.toBe(first.version?.hash);
  const { from, to, changed, text } = await get<RunDifference>(
    `/api/runs/${edited.instanceId}/diff`,
  );
  expect([from.instanceId, to.instanceId, changed]).toEqual([
    ...[again.instanceId, edited.instanceId, true],
  ]);
  expect(text).toMatch(/^-  "timeout": 120,?\n\+  "timeout": 60,?$/m);
  expect(text).toMatch(/^-.*"TOKEN": "\(hidden, hash [0-9a-f]{12}\)"\n\+.*"TOKEN": "\(hidden/m);
  expect(text).toMatch(/^-.*"scripts\/greet.sh": "[0-9a-f]{16}"/m);
  expect(text).toMatch(/^\+Greet twice\.$/m);
  expect(text).toMatch(/^-text = "Good to see you\..*\n\+text = "Good morning\./m);

  // Between any two, in either order.
  const path = `/api/runs/${first.instanceId}/diff?to=${edited.instanceId}`;
  expect((await get<RunDifference>(path)).from.instanceId).toBe(first.instanceId);

  const second = commitAll("twice");
  await expect
    .poll(async () => (await run()).version, { timeout: 20_000, interval: 1000 })
    .toEqual({ hash: edited.version?.hash, commit: second, dirty: false });

  await expectNoCanary([first, edited, text]);
});

/** Neither in what was answered nor in any file of the scheduler's own. */
async function expectNoCanary(answers: readonly unknown[]): Promise<void> {
  expect(JSON.stringify(answers)).not.toContain(canary);
  await scheduler?.stop();
  const state = join(project.dir, ".al");
  const stored = (await readdir(state)).filter((name) => name.startsWith("state.db"));
  expect(stored).toContain("state.db");
  for (const name of stored) {
    expect((await readFile(join(state, name))).includes(canary), name).toBe(false);
  }
}

test("without a repository, or with a broken one, there is no commit", async () => {
  await prepare();
  scheduler = await startTestScheduler(project);
  expect((await run(false)).version).toMatchObject({ commit: null, dirty: null });
  await mkdir(join(project.dir, ".git"));
  await writeFile(join(project.dir, ".git/HEAD"), "broken");
  const { instanceId } = await run(false);
  const shown = await runAl(project, ["show", instanceId]);
  expect(shown).toMatchObject({ code: 0, stderr: "" });
  expect(shown.stdout).toContain(`${instanceId} succeeded`);
  const difference = await runAl(project, ["show", instanceId, "--diff"]);
  expect(difference).toMatchObject({ code: 0, stdout: "" });
  const none = await scheduler.api("/api/runs/hello-aaaaaaaa");
  expect([none.status, await none.json()]).toMatchObject([404, { error: "unknown_instance" }]);
});
