import { openStore } from "../../../src/features/open-store.ts";
import { appendFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { logFileOf, logsDir } from "../../../src/foundation/logs/log-files.ts";
import { indexPath, openIndex } from "../../../src/features/search/index-format.ts";
import { createIndexer } from "../../../src/features/search/indexer.ts";
import type { TestScheduler } from "../../helpers/scheduler.ts";
import { benchProject } from "../bench-project.ts";
import { figureOf, type Measure } from "../figure.ts";
import { createWords, madeLine, makeLogs } from "../made-logs.ts";
import { withScheduler } from "../with-scheduler.ts";

const queries = `certificate
scheduler
the
the+scheduler
the+certificate+scheduler
"of+the+run"
"exit+code"*
sche*
the+de*
scheduler&agent=agent-7
the&kind=error
scheduler&outcome=failed
scheduler&since=2026-10-30T12:00:00Z&order=oldest
certificate&order=oldest&limit=1
thereisnosuchword`.split("\n");

/** A gigabyte of logs: how fast it is searched, how large its index is, and what it costs to index more. */
export const search: Measure = {
  name: "search",
  run: async ({ repeats }) => {
    const project = await benchProject();
    const { bytes, textBytes, runs } = makeLogs(project.dir, 1e9);
    storeRuns(project.dir, runs);
    await withIndexer(project.dir, (indexer) => indexer.indexAll());
    const ofText = [statSync(indexPath(project.dir)).size / textBytes];
    const cost = [await costOfLines(project.dir, 60)];
    const times = await withScheduler(Promise.resolve(project), (scheduler) =>
      timesOf(scheduler, 5 * repeats),
    );
    const p95 = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? Number.NaN;
    const over = `search over ${Math.round(bytes / 1e6)} MB of logs`;
    return [
      figureOf(over, "ms", times),
      figureOf(`${over}, 95th percentile`, "ms", [p95], { target: { most: 200 } }),
      figureOf("search: the index, as a part of the text", "", ofText, { target: { most: 0.7 } }),
      figureOf("search: of a core, to index 1000 lines a second", "%", cost, {
        target: { most: 10 },
      }),
    ];
  },
};

async function withIndexer<T>(
  projectDir: string,
  use: (indexer: ReturnType<typeof createIndexer>) => Promise<T>,
): Promise<T> {
  const db = openIndex(indexPath(projectDir));
  const result = await use(createIndexer(db, { dir: logsDir(projectDir), now: Date.now }));
  db.close();
  return result;
}

/** Percent of a core, for a thousand lines of 30 agents in each second; a batch is a second's. */
function costOfLines(projectDir: string, batches: number): Promise<number> {
  const words = createWords(11);
  const agents = Array.from({ length: 30 }, (_, i) => `agent-${i}`);
  const fileOf = (agent: string) => logFileOf(agent, Date.now()).name;
  return withIndexer(projectDir, async (indexer) => {
    let used = 0;
    for (let batch = 0; batch < batches; batch++) {
      for (let i = 0; i < 1_000; i++) {
        const agent = agents[i % 30] ?? "";
        const line = { agent, instanceId: `${agent}-aaaaaaaa`, time: Date.now() };
        appendFileSync(join(logsDir(projectDir), fileOf(agent)), madeLine(words, line));
      }
      const before = process.cpuUsage();
      await indexer.indexNew(agents.map(fileOf));
      const { user, system } = process.cpuUsage(before);
      used += user + system;
    }
    return (used / batches / 1e6) * 100;
  });
}

/** The answers' times, in ms, in a mixed order. */
async function timesOf({ api }: TestScheduler, rounds: number): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const query of queries) {
      const began = performance.now();
      const answer = await api(`/api/search?q=${query}`);
      await answer.json();
      if (answer.status !== 200) throw new Error(`${query}: ${answer.status}`);
      times.push(performance.now() - began);
    }
  }
  return times;
}

/** What the store has of the runs: one in twenty failed. */
function storeRuns(projectDir: string, runs: readonly string[]): void {
  openStore(projectDir).close();
  using db = new DatabaseSync(join(projectDir, ".al", "state.db"));
  db.exec("PRAGMA synchronous = OFF; BEGIN");
  const insert = db.prepare(
    `INSERT INTO triggers (id, at, kind, agent, state, outcome, dead_letter, attempt, instance_id, started_at)
     VALUES (?1, ?2, 'cron', 'agent-0', 'ended', ?3, 0, 1, ?4, ?2)`,
  );
  for (const [i, run] of runs.entries()) {
    insert.run(`e${i}`, i, i % 20 === 0 ? "failed" : "succeeded", run);
  }
  db.exec("COMMIT");
}
