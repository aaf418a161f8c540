import { mkdir, readdir } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { LiveProject, slowly } from "../helpers/live-project.ts";
import { pause } from "../helpers/pause.ts";
import { perTest } from "../helpers/per-test.ts";
import { spawnAl } from "../helpers/scheduler.ts";

const config = "agents/hello/config.toml";
/** Its schedule is due every minute. */
const project = perTest(() => LiveProject.copy("examples/hello"));
/** Keeps a run busy before its session. */
const hooks = '\n[hooks]\npre = ["sleep 300"]\n';

/** The entries of the project's history. */
function triggers() {
  using db = new DatabaseSync(project().path(".al/state.db"), { readOnly: true });
  return db.prepare("SELECT kind, outcome FROM triggers").all();
}

/** Starts `al run hello`, with its output and its exit code. */
function running(env: NodeJS.ProcessEnv = {}) {
  const child = spawnAl(project(), ["run", "hello"], env);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => (output += String(chunk)));
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { interrupt: () => child.kill("SIGINT"), output: () => output, exited };
}

test("al run without a scheduler runs the agent once with its skill's files, prints the log, and releases the project's lock", async () => {
  const script = '#!/bin/sh\necho "greetings of $AL_AGENT"\n';
  await project().write("agents/hello/scripts/greet", script, 0o755);
  await project().append(config, '\n[hooks]\npre = ["scripts/greet"]\n');
  const { code, stdout, stderr } = await project().al("run", "hello", "--prompt", "hi");
  expect([code, stderr]).toEqual([0, expect.stringMatching(/hello-\w{8} succeeded/)]);
  expect(stdout).toMatch(/greetings of hello[^]*Hello from your first agent/);
  expect(triggers()).toMatchObject([{ kind: "manual", outcome: "succeeded" }]);
  expect((await project().al("stat")).stderr).toContain("no scheduler is running");
});

test("al run without a scheduler reports a missing credential once", async () => {
  await project().edit(config, "credentials = []", 'credentials = ["acme_token"]');
  const { stdout, stderr } = await project().al("run", "hello");
  expect((stdout + stderr).split("acme_token is missing")).toHaveLength(2);
});

test("a Ctrl-C that a terminal and npm both forward to al run counts once: the run ends in order", async () => {
  await project().append(config, hooks);
  const { interrupt, output, exited } = running();
  await expect.poll(output, slowly).toContain("hook");
  interrupt();
  await pause(50, "npm forwards what the terminal sent already");
  interrupt();
  expect(await exited, output()).toBe(130);
  expect(output()).toMatch(/hello-\w{8} killed after/);
  expect(triggers()).toMatchObject([{ kind: "manual", outcome: "killed" }]);
});

test("an interruption of the start of al run leaves nothing behind", async () => {
  const TMPDIR = project().path("tmp");
  await mkdir(TMPDIR);
  const { interrupt, exited } = running({ TMPDIR });
  // The folder of the operator's socket is among the first that a start makes.
  await expect.poll(() => readdir(TMPDIR), { ...slowly, interval: 1 }).not.toEqual([]);
  interrupt();
  expect(await exited).toBe(130);
  expect(await readdir(TMPDIR)).toEqual([]);
  expect(triggers()).toEqual([]);
});
