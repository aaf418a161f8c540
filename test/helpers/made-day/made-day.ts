import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { webhookProject } from "../../features/webhooks/webhook-project.ts";
import type { TestProject } from "../scheduler.ts";
import { madeAgents, madeConfig } from "./agents.ts";
import { writeHistory } from "./made-history.ts";
import { writeLogs } from "./made-logs.ts";
import { runsOf } from "./made-runs.ts";

const slowModel = `[models.slow]\nprovider = "scripted"\nscript = "slow.script.toml"\n`;
const slowScript = `[[turns]]
text = "I bring the build to staging."
[[turns.tools]]
name = "al_status"
arguments = { text = "waiting for the health checks" }
[[turns.tools]]
name = "bash"
arguments = { command = "for n in $(seq 1 60); do echo check $n: not yet; sleep 1; done" }
[[turns]]
text = "Deployed."
`;

/**
 * A project of these agents, thirty by default, and a day of history until `now` behind it, in its store and its log files, before its scheduler
 * starts. The history is made: real rows and real lines, of runs that never were.
 */
export async function madeDay(agents = madeAgents, now = Date.now()): Promise<TestProject> {
  const project = await webhookProject();
  await writeFile(join(project.dir, "slow.script.toml"), slowScript);
  await appendFile(join(project.dir, "config.toml"), slowModel);
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
