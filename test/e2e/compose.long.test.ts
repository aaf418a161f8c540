import { installedPackage } from "../helpers/installed-package.ts"; // first: it decides what the helpers start
import { execFile, execFileSync } from "node:child_process";
import { chownSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { fill } from "../faults/store/fill-disk.ts";
import { containersOfProject, removeAll } from "../helpers/container-project.ts";
import { engineSetupMs, testBase, testEngine } from "../helpers/docker.ts";
import { freePort } from "../helpers/free-port.ts";
import { noteSkipped } from "../helpers/note-skipped.ts";
import { copyProject, type TestProject } from "../helpers/scheduler.ts";
import { composeTools } from "./compose-tools.ts";

const run = promisify(execFile);
const { engine, missing } = await testEngine();
noteSkipped("the scheduler in a container", missing);

/** The owner of the project: any number that is not of a user in the image. */
const owner = 12_345;
const name = `al-test-compose-${process.pid}`;
const projectDir = `/projects/${name}`;
const { folder, prefix, remove } = installedPackage;
const file = (path: string) => join(folder, path);
const state = file("state");

/** What the test adds: a store that can be filled, a secret, and a health check that does not take minutes. */
const override = `services:
  almanac:
    image: ${name}
    secrets: [github_token.bot]
    healthcheck: { interval: 1s }
secrets:
  github_token.bot: { file: ${file("secret")} }
volumes:
  state: { driver_opts: { type: none, o: bind, device: ${state} } }
`;
/** A run returns its user and its network interfaces. */
const look = `al-return "$(id -un) $(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' \\\\n')"`;
const script = `[[turns]]
[[turns.tools]]
name = "bash"
arguments = { command = '''sleep 5; ${look}''' }

[[turns]]
text = "done"
`;

let project: TestProject;
let env: NodeJS.ProcessEnv;
let composed: (...args: readonly string[]) => Promise<string>;
const al = (...args: readonly string[]) => composed("exec", "-T", "almanac", "al", ...args);

async function runs(): Promise<readonly { outcome: string | null; attempt: number }[]> {
  const page = JSON.parse(await al("history", "--json")) as {
    triggers: Awaited<ReturnType<typeof runs>>;
  };
  return page.triggers;
}

async function startedRun(): Promise<void> {
  await al("run", "hello", "--detach");
  await expect.poll(() => containersOfRuns(), { timeout: 60_000 }).toHaveLength(1);
}
const containersOfRuns = () => containersOfProject(engine, projectDir, ["running"]);

async function scheduler() {
  return engine
    .calls()
    .getContainer((await composed("ps", "-q", "almanac")).trim())
    .inspect();
}
const health = async () => (await scheduler()).State.Health?.Status;

describe.skipIf(missing !== null)("the scheduler in a container", { timeout: 600_000 }, () => {
  beforeAll(async () => {
    const { compose, DOCKER_CONFIG } = composeTools();
    project = await copyProject("examples/hello");
    writeFileSync(join(project.dir, "hello.script.toml"), script);
    writeFileSync(
      join(project.dir, "agents/hello/config.toml"),
      'models = ["scripted"]\ncredentials = []\nschedule = "0 0 29 2 *"\n',
    );
    const config = `[models.scripted]\nprovider = "scripted"\nscript = "hello.script.toml"\n[local]\nbase = "${testBase}"\n`;
    writeFileSync(join(project.dir, "config.toml"), config);
    writeFileSync(file("override.yaml"), override);
    writeFileSync(file("secret"), "ghp_0123456789abcdef\n", { mode: 0o600 });
    mkdirSync(state);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64m", "tmpfs", state]);
    execFileSync("chown", ["-R", `${owner}:${owner}`, project.dir]);
    chownSync(file("secret"), owner, owner);
    env = {
      ...process.env,
      DOCKER_CONFIG,
      AL_PROJECT: project.dir,
      AL_PORT: `127.0.0.1:${await freePort()}`,
      AL_BASE: testBase,
      AL_SOCKETS: file("sockets"),
      DOCKER_BUILDKIT: "1",
    };
    const deploy = join(prefix, "lib/node_modules/almanac/examples/deploy/compose.yaml");
    const files = ["-p", name, "-f", deploy, "-f", file("override.yaml")];
    composed = async (...args) => (await run(compose, [...files, ...args], { env })).stdout;
    await composed("up", "--detach", "--build", "--wait", "--wait-timeout", "300");
  }, 3 * engineSetupMs);

  afterAll(async () => {
    await composed("down", "--volumes", "--timeout", "1");
    await removeAll(engine, projectDir);
    execFileSync("umount", [state]);
    await engine.calls().getImage(name).remove({ force: true });
    await project.remove();
    remove();
  });

  test("is the owner of the project without capabilities, and runs hello in a closed container of its own", async () => {
    const answer = JSON.parse(await al("run", "hello", "--json")) as object;
    expect(answer).toMatchObject({ outcome: "succeeded", value: "al lo" });
    const status = await composed("exec", "-T", "almanac", "sh", "-c", "cat /proc/[0-9]*/status");
    const processes = status.split(/^(?=Name:)/m);
    const own = processes.filter((one) => new RegExp(`^Uid:\\s+${owner}\\s`, "m").test(one));
    expect(own).toHaveLength(1);
    expect(own[0]).toMatch(/^CapEff:\s+0+\nCapBnd:\s+0+$/m);
    expect(await readdir(project.dir)).toContain("hello.script.toml");
  });

  test("finds Compose's secrets, and no fault in itself", async () => {
    expect(await al("creds", "ls")).toContain("github_token:bot");
    expect(await al("doctor")).not.toMatch(/^error/m);
  });

  test("adopts a run after it was killed", async () => {
    await startedRun();
    await composed("kill");
    expect(await containersOfRuns()).toHaveLength(1);
    await composed("up", "--detach", "--wait");
    await expect.poll(runs).toMatchObject([{ outcome: "succeeded", attempt: 1 }, {}]);
  });

  test("waits for a run before it stops", async () => {
    await startedRun();
    await composed("stop");
    expect(await containersOfRuns()).toEqual([]);
    await composed("up", "--detach", "--wait");
    const [last] = await runs();
    expect(last).toMatchObject({ outcome: "succeeded", attempt: 1 });
  });

  test("is unhealthy while its store is", async () => {
    const filler = join(state, "filler");
    fill(filler);
    await al("run", "hello", "--detach").catch(() => undefined);
    await expect.poll(health).toBe("unhealthy");
    rmSync(filler);
    await expect.poll(health).toBe("healthy");
  });
});
