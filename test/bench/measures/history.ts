import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { openStore } from "../../../src/foundation/store/store.ts";
import type { HistoryPage } from "../../../src/foundation/contracts/history.ts";
import type { TestProject, TestScheduler } from "../../helpers/scheduler.ts";
import { benchProject } from "../bench-project.ts";
import { figureOf, type Measure } from "../figure.ts";
import { withFloor } from "../floors.ts";
import { repeated } from "../repeated.ts";
import { withScheduler } from "../with-scheduler.ts";

const spanMs = 13 * 86_400_000;

/** Pages of a long history, near and far, with and without filters, over HTTP. */
export const history: Measure = {
  name: "history",
  run: ({ repeats, quick }) => {
    const entries = quick ? 20_000 : 1_000_000;
    return withScheduler(filled(entries), async (scheduler) => {
      const { nextBefore } = await page(scheduler, `page=${Math.floor(entries / 100)}`);
      const queries = [
        "",
        `page=${Math.floor(entries / 100)}`,
        `before=${encodeURIComponent(nextBefore ?? "")}`,
        "agent=agent-7&kind=cron",
        "outcome=failed&kind=manual&page=20",
        "deadLetter=true",
      ];
      const times: number[] = [];
      for (const query of queries) {
        times.push(...(await timed(10 * repeats, () => page(scheduler, query))));
      }
      const floor = await withFloor(false, (url) => timed(60 * repeats, () => barePage(url)));
      const target = { median: 10 };
      return [figureOf(`history page of ${entries} entries`, "ms", times, { floor, target })];
    });
  },
};

/** How long each took, in ms. */
function timed(times: number, once: () => Promise<unknown>): Promise<number[]> {
  return repeated(times, async () => {
    const began = performance.now();
    await once();
    return performance.now() - began;
  });
}

/** As many rows as a page has, from a bare server that has them at hand. */
async function barePage(url: string): Promise<unknown> {
  return (await fetch(`${url}/page`)).json();
}

async function page(scheduler: TestScheduler, query: string): Promise<HistoryPage> {
  const answer = await scheduler.api(`/api/stats/triggers?${query}`);
  if (answer.status !== 200) throw new Error(`${query}: ${answer.status}`);
  return (await answer.json()) as HistoryPage;
}

/** A project with two weeks of 500 agents in its history. */
async function filled(entries: number): Promise<TestProject> {
  const project = await benchProject({ count: 1, config: () => 'schedule = "0 3 1 1 *"' });
  openStore(project.dir).close();
  const db = new DatabaseSync(join(project.dir, ".al", "state.db"));
  const from = Date.now() - spanMs;
  db.exec(`
    PRAGMA synchronous = OFF;
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${entries - 1})
    INSERT INTO triggers (id, at, kind, agent, state, outcome, dead_letter, attempt)
    SELECT 'e' || i, ${from} + CAST(i * ${spanMs / entries} AS INTEGER),
      CASE i * 7919 % 4 WHEN 0 THEN 'manual' WHEN 1 THEN 'cron' ELSE 'webhook' END,
      'agent-' || (i * 104729 % 500), 'ended',
      CASE WHEN i * 31 % 5 = 0 THEN 'failed' ELSE 'succeeded' END, i % 20000 = 7, 1 FROM n`);
  db.close();
  return project;
}
