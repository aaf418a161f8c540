import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestProject } from "../../helpers/scheduler.ts";
import { agentName, benchProject } from "../bench-project.ts";
import { logsDir } from "../../../src/foundation/logs/log-files.ts";
import { indexPath, openIndex } from "../../../src/features/search/index-format.ts";
import { createIndexer } from "../../../src/features/search/indexer.ts";
import { fillHistory } from "./fill-history.ts";
import { fillLogs } from "./fill-logs.ts";

/** How large a project is. */
export interface ProjectSize {
  readonly agents: number;
  /** Runs of the last two weeks. */
  readonly runs: number;
}

/** Nothing is pruned by itself: the bench prunes, and knows when. */
const retention = "historyRetentionDays = 365\nhistoryMaxBytes = 100_000_000_000\n";

/** Its agents run once a year, and when an issue of their own repository is opened; such a run lasts an hour. */
export const agentLines = (n: number): string => `schedule = "${n % 60} 3 1 1 *"
hooks.pre = ["sleep 3600"]
tags = ["team-${n % 50}"]
[[webhooks]]
source = "github"
events = ["issues"]
repos = ["acme/${agentName(n)}"]
`;

/** A project with two weeks of history in its store and its logs, of runs that never were. */
export async function largeProject({ agents, runs }: ProjectSize): Promise<TestProject> {
  const project = await benchProject({ count: agents, config: agentLines });
  const file = join(project.dir, "config.toml");
  await writeFile(file, `${retention}${await readFile(file, "utf8")}`);
  fillHistory(project.dir, { agents, runs });
  fillLogs(project.dir, { agents, runs });
  await index(project.dir);
  return project;
}

/** The scheduler's own thread would do it beside what is measured. */
async function index(projectDir: string): Promise<void> {
  const db = openIndex(indexPath(projectDir));
  await createIndexer(db, { dir: logsDir(projectDir), now: Date.now }).indexAll();
  db.close();
}
