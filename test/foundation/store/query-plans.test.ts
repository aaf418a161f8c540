import { spendTables } from "../../../src/features/spend/spend-tables.ts";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { createHistory } from "../../../src/foundation/store/history.ts";
import { createGroupCommit } from "../../../src/foundation/store/group-commit.ts";
import { createCalls } from "../../../src/foundation/store/calls.ts";
import { createPastTriggers } from "../../../src/foundation/store/past-triggers.ts";
import { createUnmatchedReceipts } from "../../../src/features/webhooks/refused-deliveries.ts";
import { createReceipts } from "../../../src/foundation/store/receipts.ts";
import { prune } from "../../../src/foundation/store/prune.ts";
import { createSpend } from "../../../src/features/spend/spend-store.ts";
import { tempStore } from "./support.ts";
import { tempDir } from "../../helpers/temp-dir.ts";

/** The plan of SQLite for each statement that is prepared meanwhile. */
async function plansOf(use: (db: DatabaseSync) => unknown): Promise<readonly string[]> {
  const dir = tempDir();
  tempStore(dir).close();
  const db = new DatabaseSync(join(dir, ".al", "state.db"));
  const statements: string[] = [];
  const recorded = new Proxy(db, {
    get: (target, name) => {
      if (name === "prepare") return (sql: string) => (statements.push(sql), target.prepare(sql));
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  await use(recorded);
  const plans = statements
    .filter((sql) => !sql.startsWith("PRAGMA"))
    .flatMap((sql) => planOf(db, sql));
  db.close();
  return plans;
}

function planOf(db: DatabaseSync, sql: string): readonly string[] {
  return db
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all()
    .map(({ detail }) => String(detail));
}

/** All rows of the history, which may be millions, or all of an index of them. */
const allRuns =
  /^SCAN triggers(?! USING INDEX triggers_(open|by_time))|\((instance_id|receipt_id)>\?\)|^SCAN model_calls(?! USING INDEX model_calls_(open|by_time))|SCAN receipts(?! USING INDEX)/;

test("no report, call to a model or batch of pruning scans the whole history", async () => {
  const plans = await plansOf(async (db) => {
    createHistory(db).latestRuns(["dev"]);
    createHistory(db).hourlyRuns(24, 0);
    const commits = createGroupCommit(db, "state.db");
    createCalls(db, commits);
    createPastTriggers(db, commits);
    createReceipts(db, commits);
    createUnmatchedReceipts(db);
    const spend = createSpend(db, commits, () => 0);
    spend.rows({ by: "agent", since: 0, agent: null });
    spend.lastRuns(20);
    await prune(db, commits, [spendTables], { now: 0, days: 1, maxBytes: 1e12 });
  });
  expect(plans.length).toBeGreaterThan(20);
  expect(plans.filter((plan) => allRuns.test(plan))).toEqual([]);
});
