import { appendFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { logFileOf, logsDir } from "../../../src/foundation/logs/log-files.ts";
import { indexPath, openIndex } from "../../../src/features/search/index-format.ts";
import { createIndexer } from "../../../src/features/search/indexer.ts";
import { openStore } from "../../../src/foundation/store/store.ts";
import type { TestProject, TestScheduler } from "../../helpers/scheduler.ts";
import { benchProject } from "../bench-project.ts";
import { figureOf, type Figure, type Measure } from "../figure.ts";
import { createWords, madeLine, makeLogs } from "../made-logs.ts";
import { withScheduler } from "../with-scheduler.ts";

const queries = [
  "q=certificate",
  "q=scheduler",
  "q=the",
  "q=the+scheduler",
  "q=the+certificate+scheduler",
  'q="of+the+run"',
  'q="exit+code"*',
  "q=sche*",
  "q=the+de*",
  "q=scheduler&agent=agent-7",
  "q=the&kind=error",
  "q=scheduler&outcome=failed",
  "q=scheduler&since=2026-10-30T12:00:00Z&order=oldest",
  "q=certificate&order=oldest&limit=1",
  "q=thereisnosuchword",
];
/** Batches of a second each. */
const seconds = 60;

/** A gigabyte of logs: how fast it is searched, how large its index is, and what it costs to index more. */
export const search: Measure = {
  name: "search",
  run: async ({ repeats, quick }) => {
    const project = await benchProject({ count: 1, config: () => 'schedule = "0 3 1 1 *"' });
    const { bytes, textBytes, runs } = makeLogs(project.dir, quick ? 20e6 : 1e9);
    storeRuns(project, runs);
    await index(project.dir);
    const megabytes = Math.round(bytes / 1e6);
    const size = statSync(indexPath(project.dir)).size;
    const cost = await costOfLines(project.dir, quick ? 5 : seconds);
    const times = await withScheduler(Promise.resolve(project), (scheduler) =>
      timesOf(scheduler, 5 * repeats),
    );
    return figures({ megabytes, times, cost, ofText: size / textBytes });
  },
};

interface Measured {
  readonly megabytes: number;
  readonly times: readonly number[];
  readonly cost: number;
  readonly ofText: number;
}

function figures({ megabytes, times, cost, ofText }: Measured): readonly Figure[] {
  const p95 = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? Number.NaN;
  const over = `search over ${megabytes} MB of logs`;
  return [
    figureOf(over, "ms", times),
    figureOf(`${over}, 95th percentile`, "ms", [p95], { target: { most: 200 } }),
    figureOf("search: the index, as a part of the text", "", [ofText], { target: { most: 0.7 } }),
    figureOf("search: of a core, to index 1000 lines a second", "%", [cost], {
      target: { most: 10 },
    }),
  ];
}

async function index(projectDir: string): Promise<void> {
  const db = openIndex(indexPath(projectDir));
  await createIndexer(db, { dir: logsDir(projectDir), now: Date.now }).indexAll();
  db.close();
}

/** Percent of a core, for a thousand lines of 30 agents in each second. */
async function costOfLines(projectDir: string, batches: number): Promise<number> {
  const words = createWords(11);
  const dir = logsDir(projectDir);
  const db = openIndex(indexPath(projectDir));
  const indexer = createIndexer(db, { dir, now: Date.now });
  const names = Array.from({ length: 30 }, (_, i) => logFileOf(`agent-${i}`, Date.now()).name);
  let used = 0;
  for (let batch = 0; batch < batches; batch++) {
    for (let i = 0; i < 1_000; i++) {
      const line = {
        agent: `agent-${i % 30}`,
        instanceId: `agent-${i % 30}-aaaaaaaa`,
        time: Date.now(),
      };
      appendFileSync(join(dir, names[i % 30] ?? ""), madeLine(words, line));
    }
    const before = process.cpuUsage();
    await indexer.indexNew(names);
    const { user, system } = process.cpuUsage(before);
    used += user + system;
  }
  db.close();
  return (used / batches / 1e6) * 100;
}

/** The answers' times, in ms, in a mixed order. */
async function timesOf({ api }: TestScheduler, rounds: number): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const query of queries) {
      const began = performance.now();
      const answer = await api(`/api/search?${query}`);
      await answer.json();
      if (answer.status !== 200) throw new Error(`${query}: ${answer.status}`);
      times.push(performance.now() - began);
    }
  }
  return times;
}

/** What the store has of the runs: one in twenty failed. */
function storeRuns(project: TestProject, runs: readonly string[]): void {
  openStore(project.dir).close();
  const db = new DatabaseSync(join(project.dir, ".al", "state.db"));
  db.exec("PRAGMA synchronous = OFF; BEGIN");
  const insert = db.prepare(
    `INSERT INTO triggers (id, at, kind, agent, state, outcome, dead_letter, attempt, instance_id, started_at)
     VALUES (?1, ?2, 'cron', 'agent-0', 'ended', ?3, 0, 1, ?4, ?2)`,
  );
  for (const [i, run] of runs.entries()) {
    insert.run(`e${i}`, i, i % 20 === 0 ? "failed" : "succeeded", run);
  }
  db.exec("COMMIT");
  db.close();
}
