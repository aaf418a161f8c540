import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { webhookProject } from "../../webhooks/webhook-project.ts";
import type { TestProject } from "../scheduler.ts";
import { madeAgents, madeConfig } from "./agents.ts";
import { writeHistory } from "./made-history.ts";
import { writeLogs } from "./made-logs.ts";
import { runsOf } from "./made-runs.ts";

/**
 * A project with so many agents and a day of history behind it, in its store and its log files, before its scheduler
 * starts. The history is made: real rows and real lines, of runs that never were.
 */
export async function madeDay(count = 30, now = Date.now()): Promise<TestProject> {
  const project = await webhookProject();
  const agents = madeAgents(count);
  for (const agent of agents) {
    const dir = join(project.dir, "agents", agent.name);
    await mkdir(dir, { recursive: true });
    await writeFile(join(dir, "SKILL.md"), `---\nname: ${agent.role.title}\n---\n\nDo it.\n`);
    await writeFile(join(dir, "config.toml"), madeConfig(agent));
  }
  const runs = agents
    .flatMap((agent) => runsOf(agent, now))
    .sort((a, b) => a.startedAt - b.startedAt);
  await writeHistory(project.dir, runs);
  writeLogs(project.dir, runs);
  return project;
}
