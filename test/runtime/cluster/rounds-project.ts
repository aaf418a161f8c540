import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { HistoryEntry, HistoryPage } from "../../../src/foundation/contracts/history.ts";
import type { LogEntry } from "../../../streams/vocabulary.ts";
import { modelProject } from "../../e2e/model-project.ts";
import type { LiveProject } from "../../helpers/live-project.ts";
import type { TestScheduler } from "../../helpers/scheduler.ts";

export interface RoundsProjectOptions {
  readonly engine: "swarm" | "kubernetes";
  /** Of the model that all agents ask. */
  readonly baseUrl: string;
  /** `host:port` of the door. */
  readonly address: string;
  readonly image: string;
  readonly agents: readonly string[];
  readonly leaseSeconds: number;
}

/** A project whose agents run in a cluster, up to four runs of each at once. */
export async function roundsProject(options: RoundsProjectOptions): Promise<LiveProject> {
  const { engine, baseUrl, address, image, agents, leaseSeconds } = options;
  const project = `
[cluster]
engine = "${engine}"
address = "${address}"
listen = "${address}"
image = "${image}"
lease = ${leaseSeconds}
reserveMemory = "64m"
reserveCpus = 0.01

[local]
memory = "384m"
cpus = 0.75
starting = 4
`;
  const made = await modelProject({ baseUrl, project });
  const agent = `models = ["m"]
credentials = []
callable = true
scale = 4
timeout = 300
maxWorkQueueSize = 200
[memory]
`;
  for (const name of agents) {
    await made.write(`agents/${name}/config.toml`, agent);
    await made.write(`agents/${name}/SKILL.md`, "Work.\n");
  }
  return made;
}

/** The whole history, oldest first. */
export async function wholeHistory(scheduler: TestScheduler): Promise<readonly HistoryEntry[]> {
  const all: HistoryEntry[] = [];
  for (let page = 1; ; page++) {
    const answer = await scheduler.api(`/api/stats/triggers?limit=200&page=${page}`);
    const { triggers } = (await answer.json()) as HistoryPage;
    all.unshift(...triggers.toReversed());
    if (triggers.length < 200) return all;
  }
}

/** All log entries, by run. */
export async function logsByRun(dir: string): Promise<ReadonlyMap<string, readonly LogEntry[]>> {
  const folder = join(dir, ".al/logs");
  const names = await readdir(folder);
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  const lines = texts
    .join("")
    .split("\n")
    .filter((line) => line.startsWith("{"));
  return Map.groupBy(
    lines.map((line) => JSON.parse(line) as LogEntry),
    ({ instanceId }) => instanceId ?? "",
  );
}
