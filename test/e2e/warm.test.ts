import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../foundation/contracts/runner.ts";
import { agentConfig, agentName, benchProject } from "../bench/bench-project.ts";
import { startTestScheduler } from "../helpers/scheduler.ts";
import type { TestProject, TestScheduler } from "../helpers/scheduler.ts";

const patience = 30_000;
const schedule = 'schedule = "0 3 1 1 *"';
let project: TestProject;
let scheduler: TestScheduler;
let config: string;

beforeEach(async () => {
  project = await benchProject({ count: 2, config: () => schedule });
  config = await readFile(join(project.dir, "config.toml"), "utf8");
});
afterEach(async () => {
  await scheduler.kill();
  await until(async () => (await waiting()).length === 0, patience);
  await project.remove();
});

const warm = (each: number) =>
  writeFile(join(project.dir, "config.toml"), `${config}\n[local]\nwarm = ${each}\n`);
const start = async () => {
  scheduler = await startTestScheduler(project);
};

/** What waits for a run of this project, not what keeps it. */
async function waiting(): Promise<readonly number[]> {
  const found: number[] = [];
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const read = (file: string) => readFile(`/proc/${name}/${file}`, "utf8").catch(() => "");
    const [program = "", , ...args] = (await read("cmdline")).split("\0");
    const own = `_run-agent warm --project ${project.dir} `;
    if (!/\/node$/.test(program) || args.join(" ") !== own) continue;
    if ((await read("environ")).includes("AL_WARM=1")) found.push(Number(name));
  }
  return found;
}
const untilWaiting = (count: number) =>
  until(async () => (await waiting()).length === count, patience);

async function status() {
  const answer = await scheduler.api("/control/status");
  return (await answer.json()) as {
    scheduler: { running: number };
    agents: { name: string; lastOutcome: string | null }[];
  };
}

test("a scheduler keeps as many runners ready as its config says, and those are no runs", async () => {
  await warm(1);
  await start();
  // One for the OS user, however many agents run as it.
  await untilWaiting(1);
  expect((await status()).scheduler.running).toBe(0);
  for (const each of [3, 1, 0, 1]) {
    await warm(each);
    await untilWaiting(each);
  }
  const [first] = await waiting();
  await scheduler.api(`/control/trigger/${agentName(1)}`, { method: "POST" });
  await until(async () => {
    const { agents } = await status();
    return agents.find(({ name }) => name === agentName(1))?.lastOutcome === "succeeded";
  }, patience);
  await untilWaiting(1);
  expect(await waiting()).not.toEqual([first]);
  await scheduler.stop();
  await untilWaiting(0);
});

test("a scheduler keeps none without an enabled agent that gains by it, and none after kill -9", async () => {
  await warm(1);
  const configOf = (n: number) => join(project.dir, "agents", agentName(n), "config.toml");
  await writeFile(configOf(0), `scale = 0\n${agentConfig(schedule)}`);
  await writeFile(configOf(1), agentConfig(schedule).replace(/\[runtime\][\s\S]*/, ""));
  await start();
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(await waiting()).toEqual([]);
  await writeFile(configOf(0), agentConfig(schedule));
  await untilWaiting(1);
  await scheduler.kill();
  await untilWaiting(0);
});
