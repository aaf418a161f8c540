import { spawn } from "node:child_process";
import { cpSync } from "node:fs";
import { join, resolve } from "node:path";
import { until } from "../helpers/command-agents.ts";
import { removeAll } from "../helpers/container-project.ts";
import { defaultTestImage, engineSetupMs, testBase, testEngine } from "../helpers/docker.ts";
import { forAll, slowly, type LiveProject } from "../helpers/live-project.ts";
import { copyProject, spawnAl } from "../helpers/scheduler.ts";
import { deliver, storyProject, taken } from "./story-project.ts";

const root = resolve(import.meta.dirname, "../..");
const { engine, missing: noEngine } = await testEngine();
const config = "agents/hello/config.toml";

/** A working day of one project: each test goes on where the one before it ended. */
let project: LiveProject;

/** Turns of examples/hello, which has pauses for its readers. */
const script = `[[turns]]
text = "Let me look at the clock."
tools = [{ name = "bash", arguments = { command = "date" } }]
[[turns]]
text = "Hello from your first agent."
`;

forAll(async () => {
  project = await storyProject((dir) => ({ waits: until(`${dir}/never`) }));
  copyExample("hello/agents/hello", "agents/hello");
  await project.write("hello.script.toml", script);
  await project.append(
    "config.toml",
    `[models.scripted]
provider = "scripted"
script = "hello.script.toml"
price = { input = 1000, output = 1000 }
[models.boxed]
provider = "scripted"
script = "boxed.script.toml"
[local]
base = "${testBase}"
`,
  );
  await project.edit(config, '"* * * * *"', '"0 0 29 2 *"');
  await project.start();
});

const copyExample = (path: string, to: string): void =>
  cpSync(join(root, "examples", path), project.path(to), { recursive: true });
const outcomes = async (agent: string) =>
  (await project.history(`agent=${agent}`)).map(({ outcome }) => outcome);

test("npm start prints the dashboard's address and the key's path, and runs until it is interrupted", async () => {
  const files = await copyProject("examples/hello");
  onTestFinished(() => files.remove());
  const child = spawn("npm", ["start", "--", "--port", "0"], {
    cwd: root,
    env: { ...process.env, AL_HOME: files.home, NO_COLOR: "1" },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  const ended = new Promise((done) => child.once("close", done));
  onTestFinished(() => {
    const { exitCode, signalCode } = child;
    if (exitCode === null && signalCode === null) process.kill(-(child.pid ?? 0), "SIGKILL");
  });
  await expect.poll(() => output, slowly).toMatch(/^API key: +\S+$/m);
  const url = /^Dashboard: +(\S+)$/m.exec(output)?.[1] ?? "";
  const page = await fetch(url, { redirect: "manual", headers: { accept: "text/html" } });
  expect(page.headers.get("location")).toMatch(/^\/login/);
  process.kill(-(child.pid ?? 0), "SIGINT");
  await ended;
  expect(output).toContain("stopping (SIGINT)");
});

test("a second scheduler of the project fails with the process id of the first one", async () => {
  const { code, stderr } = await project.al("start", "--port", "0");
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(`pid ${project.scheduler.pid}[^]*al stop`),
  ]);
});

test("a saved config takes effect; an invalid one is shown with its place while the last valid config stays active", async () => {
  const { waitForOutput } = project.scheduler;
  await project.edit(config, '"0 0 29 2 *"', '"0 9 1 1 *"');
  await waitForOutput(/hello .*schedule "0 0 29 2 \*" → "0 9 1 1 \*"/);
  await project.edit(config, '"0 9 1 1 *"', '"whenever"');
  await waitForOutput(/agents\/hello\/config\.toml:\d+:\d+ .*"whenever" is not a cron expression/);
  expect(await project.print("stat")).toMatch(/^hello +error /m);
  expect((await project.agent("hello"))?.nextRunAt).toMatch(/-(01-01|12-31)T/);
  await project.edit(config, '"whenever"', '"0 9 1 1 *"');
  await expect.poll(() => project.agent("hello"), slowly).toMatchObject({ state: "idle" });
  await project.write("agents/bare/SKILL.md", "Be.\n");
  await waitForOutput(/agents\/bare .*but no config\.toml; al config bare .* creates one/);
});

test("al run and al logs -f show a run's texts, tool calls and tokens", async () => {
  const tail = spawnAl(project, ["logs", "hello", "--follow"]);
  let followed = "";
  tail.stdout.setEncoding("utf8").on("data", (text: string) => (followed += text));
  const ended = new Promise((done) => tail.once("close", done));
  onTestFinished(async () => {
    tail.kill();
    await ended;
  });
  const printed = await project.print("run", "hello");
  for (const text of ["bash: date", "Hello from your first agent", "run succeeded after"]) {
    expect(printed).toContain(text);
    await expect.poll(() => followed, slowly).toContain(text);
  }
  expect(printed).toMatch(/\d+ tokens/);
});

test("a signed webhook delivery starts its agent once; one with another signature starts nothing", async () => {
  expect(await deliver(project, 1)).toMatchObject(taken);
  expect(await deliver(project, 1)).toMatchObject([200, { duplicate: true }]);
  expect(await deliver(project, 2, "another")).toMatchObject([401, {}]);
  await expect.poll(() => outcomes("worker"), slowly).toEqual(["succeeded"]);
  expect(await project.read("ran")).toBe("1\n");
});

test("al pause --all-work holds new work, al kill --all ends live runs, and al resume starts the held work", async () => {
  expect(await project.trigger("waits", "waits")).toEqual([202, 202]);
  await expect.poll(async () => (await project.agent("waits"))?.running, slowly).toBe(1);
  await project.print("pause", "--all-work");
  expect(await deliver(project, 3)).toMatchObject(taken);
  expect((await project.al("run", "hello")).stderr).toContain("Resume it with al resume");
  const { code, stderr } = await project.al("kill", "--all");
  expect([code, stderr]).toEqual([2, expect.stringContaining("--yes is missing: 1 running run")]);
  expect(await project.print("kill", "--all", "--yes")).toBe("1 run killed\n");
  await expect.poll(() => outcomes("waits"), slowly).toEqual([null, "killed"]);
  expect(await outcomes("worker")).toEqual([null, "succeeded"]);
  await project.print("resume");
  await expect.poll(() => outcomes("worker"), slowly).toEqual(["succeeded", "succeeded"]);
  await expect.poll(async () => (await project.agent("waits"))?.running, slowly).toBe(1);
  expect(await project.print("kill", "waits")).toContain("killed");
});

test("a used-up budget ends a run before its next model call, and no other run starts until a raise; al cost shows the amount", async () => {
  await project.append(config, "[budget]\nrun = 0.01\n");
  await project.scheduler.waitForOutput(/hello .*budget/);
  expect((await project.al("run", "hello")).code).toBe(125);
  expect(await project.latest("hello")).toMatchObject({ outcome: "over_budget", deadLetter: true });
  await project.edit(config, "run = 0.01", "day = 0.02");
  await project.scheduler.waitForOutput(/budget\.day/);
  const { code, stderr } = await project.al("run", "hello");
  expect([code, stderr]).toEqual([125, expect.stringContaining("al budget raise hello")]);
  expect(await project.print("budget", "raise", "hello", "500")).toContain("of $500.02");
  const printed = await project.print("run", "hello");
  expect(printed).toMatch(/run succeeded after \S+ m?s \(\$\d+\.\d\d\)$/m);
  expect(await project.print("cost")).toMatch(/^hello +\$\d/m);
});

test("a run's question is answered on the command line, and the audit trail shows the answer", async () => {
  const run = project.al("run", "asker", "--json");
  const [id = ""] = await vi.waitUntil(
    async () => /^\S+(?=.*Deploy 1\.4\?)/m.exec(await project.print("questions")),
    slowly,
  );
  await project.print("answer", id, "yes");
  const { value } = JSON.parse((await run).stdout) as { readonly value: unknown };
  expect(value).toMatchObject({ ok: true, answer: "yes" });
  expect(await project.print("audit")).toMatch(/asker.*yes/);
});

describe.skipIf(noEngine !== null)("an agent without [runtime]", () => {
  beforeAll(() => defaultTestImage(engine), engineSetupMs);
  afterAll(() => removeAll(engine, project.dir));

  test(
    "runs in a container of its own that is built from its Dockerfile, without a network",
    async () => {
      copyExample("container/boxed.script.toml", "boxed.script.toml");
      copyExample("container/agents/boxed", "agents/boxed");
      await expect.poll(() => project.agent("boxed"), slowly).toMatchObject({ state: "idle" });
      const printed = await project.print("run", "boxed");
      for (const line of ["user: al (10001)", "network: lo", "root folder: read-only", "not here"])
        expect(printed).toContain(line);
    },
    engineSetupMs,
  );
});

test("al stop ends the scheduler, and al stat then reads the project's files", async () => {
  expect(await project.print("stop")).toBe("stopped\n");
  expect(await project.scheduler.exited).toBe(0);
  const { code, stdout, stderr } = await project.al("stat");
  expect([code, stderr]).toEqual([0, expect.stringContaining("no scheduler is running")]);
  expect(stdout).toMatch(/^hello +idle/m);
});
