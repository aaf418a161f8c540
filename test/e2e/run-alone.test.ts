import type { ChildProcess } from "node:child_process";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { copyProject, runAl, spawnAl, type TestProject } from "../helpers/scheduler.ts";

let project: TestProject;

beforeEach(async () => void (project = await copyProject("examples/hello")));
afterEach(() => project.remove());

/** Rewrites the agent's config. */
async function configure(change: (config: string) => string): Promise<void> {
  const path = join(project.dir, "agents", "hello", "config.toml");
  await writeFile(path, change(await readFile(path, "utf8")));
}

/** The entries of the project's history. */
function triggersOf({ dir }: TestProject) {
  const db = new DatabaseSync(join(dir, ".al", "state.db"), { readOnly: true });
  const rows = db.prepare("SELECT kind, outcome FROM triggers").all();
  db.close();
  return rows;
}

function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once("close", resolve));
}

/** Keeps a run busy before its session. */
const hooks = '\n[hooks]\npre = ["sleep 300"]\n';

test("al run without a scheduler runs the agent once with the files of its skill, follows it and releases the project's lock", async () => {
  await mkdir(join(project.dir, "agents/hello/scripts"));
  const script = '#!/bin/sh\necho "greetings of $AL_AGENT"\n';
  await writeFile(join(project.dir, "agents/hello/scripts/greet"), script, { mode: 0o755 });
  await configure((config) => `${config}\n[hooks]\npre = ["scripts/greet"]\n`);
  const first = await runAl(project, ["run", "hello", "--prompt", "hi"]);
  expect(first).toMatchObject({ code: 0 });
  expect(first.stdout).toContain("greetings of hello");
  expect(first.stdout).toContain("Hello from your first agent");
  expect(first.stderr).toMatch(/hello-\w{8} succeeded/);
  expect((await runAl(project, ["stat"])).stderr).toContain("no scheduler is running");
});

test("al run without a scheduler ends with the run's exit code", async () => {
  await configure((config) => `${config.replace("timeout = 120", "timeout = 1")}${hooks}`);
  expect((await runAl(project, ["run", "hello"])).code).toBe(124);
});

test("al run without a scheduler reports an agent that does not exist, and a broken one", async () => {
  const missing = await runAl(project, ["run", "nobody"]);
  expect(missing).toMatchObject({ code: 1, stdout: "" });
  expect(missing.stderr).toContain('error: there is no agent "nobody"');
  await rm(join(project.dir, "agents", "hello", "SKILL.md"));
  const broken = await runAl(project, ["run", "hello"]);
  expect(broken).toMatchObject({ code: 1 });
  expect(broken.stderr).toContain("SKILL.md");
  expect(broken.stderr).not.toContain("    at ");
});

test("al run without a scheduler names a missing credential once on each stream", async () => {
  await configure((config) => config.replace("credentials = []", 'credentials = ["acme_token"]'));
  const { stdout, stderr } = await runAl(project, ["run", "hello"]);
  for (const text of [stdout, stderr]) expect(text.match(/acme_token is missing/g)).toHaveLength(1);
});

test("an interruption ends the run with exit code 130", async () => {
  await configure((config) => config + hooks);
  const child = spawnAl(project, ["run", "hello"]);
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    if (!output.includes("hook") && String(chunk).includes("hook")) child.kill("SIGINT");
    output += String(chunk);
  });
  const code = await exitOf(child);
  expect(code, output).toBe(130);
  const again = await runAl(project, ["run", "nobody"]);
  expect(again.stderr).toContain("there is no agent");
});

test("a Ctrl-C that a terminal and npm both forward counts once: the run ends in order", async () => {
  await configure((config) => config + hooks);
  const child = spawnAl(project, ["run", "hello"]);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => (output += String(chunk)));
  }
  await expect.poll(() => output, { timeout: 10_000 }).toContain("hook");
  child.kill("SIGINT");
  await sleep(50);
  child.kill("SIGINT");
  expect(await exitOf(child), output).toBe(130);
  expect(output).toMatch(/hello-\w{8} killed after/);
  expect(triggersOf(project)).toMatchObject([{ kind: "manual", outcome: "killed" }]);
});

test("an interruption of the start leaves nothing behind", async () => {
  const tmp = join(project.dir, "tmp");
  await mkdir(tmp);
  const child = spawnAl(project, ["run", "hello"], { TMPDIR: tmp });
  // The folder of the operator's socket is among the first that a start makes.
  await expect.poll(() => readdir(tmp), { timeout: 10_000, interval: 1 }).not.toEqual([]);
  child.kill("SIGINT");
  expect(await exitOf(child)).toBe(130);
  expect(await readdir(tmp)).toEqual([]);
  expect(triggersOf(project)).toEqual([]);
});

test("al run without a scheduler leaves other work of the project alone", async () => {
  // The schedule is due every minute.
  const { stdout } = await runAl(project, ["run", "hello", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ outcome: "succeeded" });
  expect(triggersOf(project).map(({ kind }) => kind)).toEqual(["manual"]);
});
