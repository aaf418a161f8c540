import { execFileSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RunDifference, RunView } from "../../src/interfaces/views/run-view.ts";
import { LiveProject, slowly } from "../helpers/live-project.ts";

const canary = "canary-4f9d2c71b0";
const config = "agents/hello/config.toml";
let project: LiveProject;

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

/** The example, with secrets in its agent's environment and in its model's headers. */
async function prepare(): Promise<void> {
  project = await LiveProject.hello();
  await project.append(config, `\n[local.env]\nTOKEN = "${canary}-1"\n`);
  const headers = `[models.scripted]\nheaders = { x-proxy = "${canary}-header" }`;
  await project.edit("config.toml", "[models.scripted]", headers);
  await project.write("agents/hello/scripts/greet.sh", "echo hello\n");
}

/** Runs the agent to its end and until its commit is recorded. */
async function run(): Promise<RunView> {
  const { triggerId } = (await (await project.post("/control/trigger/hello")).json()) as {
    triggerId: string;
  };
  const entry = async () => (await project.history()).find(({ id }) => id === triggerId);
  await expect.poll(async () => (await entry())?.outcome, slowly).toBe("succeeded");
  const instanceId = (await entry())?.instanceId ?? "";
  const view = () => project.json<RunView>(`/api/runs/${instanceId}`);
  await expect.poll(async () => (await view()).version?.commit).toBeTypeOf("string");
  return view();
}

test("each run has a version: a hash, the commit and the difference from the run before", async () => {
  await prepare();
  git("init", "--quiet");
  await project.write(".gitignore", ".al/\n");
  const commit = commitAll("begin");
  const { waitForOutput } = await project.start();

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
  const same = await project.json<RunDifference>(`/api/runs/${again.instanceId}/diff`);
  expect(same).toEqual({
    from: { instanceId: first.instanceId, version: first.version },
    to: { instanceId: again.instanceId, version: first.version },
    ...{ changed: false, text: "" },
  });

  await project.append("agents/hello/SKILL.md", "\nGreet twice.\n");
  await waitForOutput(/SKILL\.md changed/);
  const changed = (await project.read(config))
    .replace("timeout = 120", "timeout = 60")
    .replace(`${canary}-1`, `${canary}-2`);
  await project.write(config, changed);
  await waitForOutput(/timeout.*120.*60/);
  await project.append("agents/hello/scripts/greet.sh", "echo again\n");
  await project.edit("hello.script.toml", "Good to see you.", "Good morning.");
  const edited = await run();
  expect(edited.version).toMatchObject({ commit, dirty: true });
  expect(edited.version?.hash).not.toBe(first.version?.hash);
  const {
    from,
    to,
    changed: isChanged,
    text,
  } = await project.json<RunDifference>(`/api/runs/${edited.instanceId}/diff`);
  expect([from.instanceId, to.instanceId, isChanged]).toEqual([
    ...[again.instanceId, edited.instanceId, true],
  ]);
  expect(text).toMatch(/^-  "timeout": 120,?\n\+  "timeout": 60,?$/m);
  expect(text).toMatch(/^-.*"TOKEN": "\(hidden, hash [0-9a-f]{12}\)"\n\+.*"TOKEN": "\(hidden/m);
  expect(text).toMatch(/^-.*"scripts\/greet.sh": "[0-9a-f]{16}"/m);
  expect(text).toMatch(/^\+Greet twice\.$/m);
  expect(text).toMatch(/^-text = "Good to see you\..*\n\+text = "Good morning\./m);

  // Between two runs, in either order.
  const path = `/api/runs/${first.instanceId}/diff?to=${edited.instanceId}`;
  expect((await project.json<RunDifference>(path)).from.instanceId).toBe(first.instanceId);

  const second = commitAll("twice");
  await expect
    .poll(async () => (await run()).version, { ...slowly, interval: 1000 })
    .toEqual({ hash: edited.version?.hash, commit: second, dirty: false });

  await expectNoCanary([first, edited, text]);
});

/** Neither in what was answered nor in any file of the scheduler's own. */
async function expectNoCanary(answers: readonly unknown[]): Promise<void> {
  expect(JSON.stringify(answers)).not.toContain(canary);
  await project.scheduler.stop();
  const state = project.path(".al");
  const stored = (await readdir(state)).filter((name) => name.startsWith("state.db"));
  expect(stored).toContain("state.db");
  for (const name of stored) {
    expect((await readFile(join(state, name))).includes(canary), name).toBe(false);
  }
}
