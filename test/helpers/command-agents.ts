import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { HistoryEntry, HistoryPage } from "../../src/foundation/contracts/history.ts";
import { copyProject } from "./scheduler.ts";
import type { TestProject, TestScheduler } from "./scheduler.ts";

/** A project of agents each of whose runs is one command of its shell; `given` is handed the project's folder. */
export async function commandAgents(
  given: (dir: string) => Readonly<Record<string, string>>,
): Promise<TestProject> {
  const project = await copyProject("examples/teamwork");
  const { dir } = project;
  await rm(join(dir, "agents"), { recursive: true });
  const commands = Object.entries(given(dir));
  for (const [name, command] of commands) await addAgent(dir, name, command);
  const models = commands.map(
    ([name]) => `[models.${name}]\nprovider = "scripted"\nscript = "${name}.script.toml"\n`,
  );
  await writeFile(join(dir, "config.toml"), models.join("\n"));
  return project;
}

async function addAgent(projectDir: string, name: string, command: string): Promise<void> {
  const dir = join(projectDir, "agents", name);
  await mkdir(dir, { recursive: true });
  const runtime = `[runtime]\ntype = "host-user"\nrun_as = "$USER"\n`;
  await writeFile(
    join(dir, "config.toml"),
    `models = ["${name}"]\ncredentials = []\ncallable = true\ntimeout = 120\n${runtime}`,
  );
  await writeFile(join(dir, "SKILL.md"), "Do it.\n");
  const tool = `name = "bash"\narguments = { command = ${JSON.stringify(command)} }`;
  await writeFile(
    join(projectDir, `${name}.script.toml`),
    `[[turns]]\n[[turns.tools]]\n${tool}\n\n[[turns]]\ntext = "done"\n`,
  );
}

/** Shell that calls an agent and puts the call's id into `$id`. */
export const callOf = (agent: string) =>
  `id=$(echo hi | al-subagent ${agent} | sed 's/.*"callId":"\\([^"]*\\)".*/\\1/')`;

/** Shell that waits for a file. */
export const until = (path: string) => `while [ ! -e '${path}' ]; do sleep 0.1; done`;

export async function startAgents(
  scheduler: TestScheduler,
  ...names: readonly string[]
): Promise<readonly number[]> {
  const answers = names.map((name) =>
    scheduler.api(`/control/trigger/${name}`, { method: "POST" }),
  );
  return (await Promise.all(answers)).map(({ status }) => status);
}

/** The latest run of an agent that was started by a trigger of this kind. */
export async function latestOf(
  scheduler: TestScheduler,
  agent: string,
  kind: HistoryEntry["kind"] = "manual",
): Promise<HistoryEntry | undefined> {
  const answer = await scheduler.api(`/api/stats/triggers?agent=${agent}&kind=${kind}`);
  return ((await answer.json()) as HistoryPage).triggers[0];
}
