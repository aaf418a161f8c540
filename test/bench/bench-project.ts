import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestProject } from "../helpers/scheduler.ts";
import { agentConfig, webhookProject } from "../features/webhooks/webhook-project.ts";

export interface AgentsOptions {
  /** By default one. */
  readonly count?: number;
  /** Lines of each agent's `config.toml`, by its number; by default it is due once a year. */
  readonly config?: (n: number) => string;
  /** `config` gives the whole file. */
  readonly whole?: boolean;
}

/** `agent-0007` */
export function agentName(n: number): string {
  return `agent-${String(n).padStart(4, "0")}`;
}

/** A project with agents that run as the scheduler's own user with a scripted model. */
export async function benchProject(options: AgentsOptions = {}): Promise<TestProject> {
  const { count = 1, config = () => 'schedule = "0 3 1 1 *"', whole = false } = options;
  const project = await webhookProject();
  // Before any table. One: a thousand agents that are asked at once would start a thousand processes.
  const file = join(project.dir, "config.toml");
  await writeFile(file, `scale = 1\n${await readFile(file, "utf8")}`);
  for (let n = 0; n < count; n++) {
    const dir = join(project.dir, "agents", agentName(n));
    await mkdir(dir, { recursive: true });
    await writeFile(join(dir, "SKILL.md"), `Agent number ${n}.\n`);
    await writeFile(join(dir, "config.toml"), whole ? config(n) : agentConfig(config(n)));
  }
  return project;
}
