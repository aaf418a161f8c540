import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import type { LogEntry } from "../../streams/vocabulary.ts";
import type { Launch } from "../../src/runtime/cluster/cluster-engine.ts";
import { UserError } from "../../src/foundation/errors.ts";
import { createLogSource } from "../../src/foundation/logs/log-source.ts";
import { startScheduler, type Scheduler } from "../../src/start/start.ts";
import { freePort } from "../helpers/free-port.ts";
import { processEngine } from "../helpers/process-engine.ts";
import { remoteRunProcess } from "../helpers/remote-run-process.ts";
import { end, log } from "../runtime/runners/shell-runs.ts";
import { shell } from "../runtime/cluster/remote-run/start-remote-run.ts";
import { tempDir } from "../helpers/temp-dir.ts";

const patience = { timeout: 20_000 };
const model = '[models.m]\nprovider = "scripted"\nscript = "m.script.toml"\n';
const agent = 'models = ["m"]\ncredentials = []\ncallable = true\n';

const clusterAt = (port: number, more = "") =>
  `[cluster]\nengine = "swarm"\naddress = "127.0.0.1:${port}"\nlisten = "127.0.0.1:${port}"\nimage = "given:1"\n${more}`;

/** A project whose runs do this on the only machine of its cluster. */
async function clusterProject(script: string) {
  const folder = tempDir();
  const dir = join(folder, "project");
  const write = async (path: string, text: string) => {
    await mkdir(join(dir, path, ".."), { recursive: true });
    await writeFile(join(dir, path), text);
  };
  const port = await freePort();
  const configure = (cluster: string) => write("config.toml", `${model}${cluster}`);
  await configure(clusterAt(port));
  await write("m.script.toml", '[[turns]]\ntext = "Done."\n');
  await write("agents/dev/config.toml", agent);
  await write("agents/dev/SKILL.md", "Work.\n");
  const launches: Launch[] = [];
  const engine = processEngine((launch) => {
    launches.push(launch);
    return remoteRunProcess({ ...launch, command: shell(script) });
  });
  const lines: LogEntry[] = [];
  const start = async (): Promise<Scheduler> => {
    const scheduler = await startScheduler({
      projectDir: dir,
      webUi: false,
      port: 0,
      graceSeconds: 5,
      env: { ...process.env, AL_HOME: join(folder, "home") },
      clusterEngine: engine,
      log: (entry) => lines.push(entry),
    });
    onTestFinished(async () => {
      scheduler.stopNow();
      await scheduler.done;
    });
    return scheduler;
  };
  const messages = () => lines.map(({ msg }) => msg);
  return { dir, port, configure, launches, engine, start, messages };
}

async function logOf(dir: string): Promise<readonly LogEntry[]> {
  const query = { agent: "dev", instanceId: null, lines: 100, after: null };
  const lines = await createLogSource(dir).read(query);
  return lines.map(({ entry }) => entry);
}

/** Outcomes of the agent's runs, the latest first. */
function outcomes({ operations }: Scheduler) {
  return operations
    .history({ page: 1, limit: 20, agent: "dev" })
    .triggers.map(({ outcome }) => outcome);
}

test("an agent without a runtime runs on a machine of the cluster, which its log names", async () => {
  const project = await clusterProject(`${log("from there")}; ${end()}`);
  const scheduler = await project.start();
  await scheduler.operations.trigger("dev", null);
  await expect.poll(() => outcomes(scheduler), patience).toEqual(["succeeded"]);
  const entries = await logOf(project.dir);
  expect(entries).toContainEqual(expect.objectContaining({ msg: "runs on here", node: "here" }));
  expect(entries).toContainEqual(expect.objectContaining({ msg: "from there" }));
  expect(project.launches).toMatchObject([
    { agent: "dev", image: "given:1", limits: { memory: "4g", cpus: 2, network: "none" } },
  ]);
  await expect.poll(() => project.engine.names(), patience).toEqual([]);
});

test("the door keeps its certificate, hides its key from other users, and follows its config", async () => {
  const project = await clusterProject(end());
  const first = await project.start();
  const file = join(project.dir, ".al/door.pem");
  const identity = await readFile(file, "utf8");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const other = await freePort();
  await project.configure(clusterAt(other));
  await expect
    .poll(project.messages, patience)
    .toContainEqual(
      expect.stringContaining(`cluster.listen "127.0.0.1:${project.port}" → "127.0.0.1:${other}"`),
    );
  await first.operations.trigger("dev", null);
  await expect.poll(() => outcomes(first), patience).toEqual(["succeeded"]);
  expect(project.launches[0]?.ticket).toContain(`127.0.0.1:${other}`);
  first.stop("the test is over");
  await first.done;
  const second = await project.start();
  expect(await readFile(file, "utf8")).toBe(identity);
  await second.operations.trigger("dev", null);
  await expect.poll(() => outcomes(second), patience).toEqual(["succeeded", "succeeded"]);
});

test("a start fails with a hint if the door can't listen", async () => {
  const project = await clusterProject(end());
  const server = createServer();
  await new Promise<void>((done) => server.listen(project.port, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  await expect(project.start()).rejects.toMatchObject({
    message: expect.stringContaining(`127.0.0.1:${project.port}`) as string,
    hint: expect.stringContaining("[cluster] listen") as string,
  });
});

test("[cluster] can be added while the scheduler runs", async () => {
  const project = await clusterProject(end());
  await project.configure("");
  const scheduler = await project.start();
  await project.configure(clusterAt(project.port));
  await expect
    .poll(project.messages, patience)
    .toContainEqual(expect.stringContaining("[cluster] added"));
  await scheduler.operations.trigger("dev", null);
  await expect.poll(() => outcomes(scheduler), patience).toEqual(["succeeded"]);
});

test("a run that waits for its machine shows that, and can be killed anywhere", async () => {
  const project = await clusterProject("sleep 100");
  const scheduler = await project.start();
  project.engine.goAway(new UserError("engine_unreachable", "no engine answers"));
  await scheduler.operations.trigger("dev", null);
  const status = () => scheduler.operations.snapshot().agents[0]?.statusText;
  await expect.poll(status, patience).toContain("no engine answers");
  project.engine.goAway(null);
  await expect.poll(() => project.engine.names(), patience).toHaveLength(1);
  const messages = async () => (await logOf(project.dir)).map(({ msg }) => msg);
  await expect.poll(messages, patience).toContain("runs on here");
  await scheduler.operations.killAgent("dev");
  await expect.poll(() => outcomes(scheduler), patience).toEqual(["killed"]);
  await expect.poll(() => project.engine.names(), patience).toEqual([]);
});
