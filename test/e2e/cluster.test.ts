import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Launch } from "../../src/runtime/cluster/cluster-engine.ts";
import { createLogSource } from "../../src/foundation/logs/log-source.ts";
import { startScheduler } from "../../src/start/start.ts";
import { freePort } from "../helpers/free-port.ts";
import { processEngine } from "../helpers/process-engine.ts";
import { remoteRunProcess } from "../helpers/remote-run-process.ts";
import { tempDir } from "../helpers/temp-dir.ts";
import { end, log } from "../runtime/runners/shell-runs.ts";
import { shell } from "../runtime/cluster/remote-run/start-remote-run.ts";

const patience = { timeout: 20_000 };

test("[cluster] can be added while the scheduler runs", async () => {
  const [folder, port] = [tempDir(), await freePort()];
  const dir = join(folder, "project");
  const write = async (path: string, text: string) => {
    await mkdir(join(dir, path, ".."), { recursive: true });
    await writeFile(join(dir, path), text);
  };
  const model = '[models.m]\nprovider = "scripted"\nscript = "m.script.toml"\n';
  await write("config.toml", model);
  await write("m.script.toml", '[[turns]]\ntext = "Done."\n');
  await write("agents/dev/config.toml", 'models = ["m"]\ncredentials = []\ncallable = true\n');
  await write("agents/dev/SKILL.md", "Work.\n");
  const launches: Launch[] = [];
  const clusterEngine = processEngine((launch) => {
    launches.push(launch);
    return remoteRunProcess({ ...launch, command: shell(`${log("from there")}; ${end()}`) });
  });
  const messages: string[] = [];
  const scheduler = await startScheduler({
    projectDir: dir,
    webUi: false,
    port: 0,
    graceSeconds: 5,
    env: { ...process.env, AL_HOME: join(folder, "home") },
    clusterEngine,
    log: ({ msg }) => messages.push(msg),
  });
  onTestFinished(async () => {
    scheduler.stopNow();
    await scheduler.done;
  });
  const at = `"127.0.0.1:${port}"`;
  const cluster = `engine = "swarm"\naddress = ${at}\nlisten = ${at}\nimage = "given:1"\n`;
  await write("config.toml", `${model}[cluster]\n${cluster}`);
  await expect.poll(() => messages.join("\n"), patience).toContain("[cluster] added");
  const { store, perform } = scheduler.operations;
  await perform("POST /control/trigger/:name", { name: "dev" });
  const { history } = store;
  const outcomes = () =>
    history.query({ page: 1, limit: 20, agent: "dev" }).triggers.map(({ outcome }) => outcome);
  await expect.poll(outcomes, patience).toEqual(["succeeded"]);
  const query = { agent: "dev", instanceId: null, lines: 100, after: null };
  const entries = (await createLogSource(dir).read(query)).map(({ entry }) => entry);
  expect(entries).toContainEqual(expect.objectContaining({ msg: "runs on here", node: "here" }));
  expect(entries).toContainEqual(expect.objectContaining({ msg: "from there" }));
  const limits = { memory: "4g", cpus: 2, network: "none" };
  expect(launches).toMatchObject([{ agent: "dev", image: "given:1", limits }]);
  await expect.poll(() => clusterEngine.names(), patience).toEqual([]);
});
