import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { SpendStore } from "../contracts/spend.ts";
import { UserError } from "../errors.ts";
import { emptied, newer, versionOf } from "./database.ts";
import type { GroupCommit } from "./group-commit.ts";
import { createHistory } from "./history.ts";
import { createLastRuns } from "./last-runs.ts";
import type { LastRun } from "./last-runs.ts";
import { migrations } from "./migrations.ts";
import { openToRead } from "./open-to-read.ts";
import { openTriggers } from "./open-triggers.ts";
import { createReceipts } from "./receipts.ts";
import { createRefusedDeliveries } from "./refused-deliveries.ts";
import { createRunHosts } from "./run-hosts.ts";
import { createRuns } from "./runs.ts";
import { createSettings } from "./settings.ts";
import type { Settings } from "./settings.ts";
import { createSpend } from "./spend.ts";
import { createSpendReport } from "./spend-report.ts";
import type { SpendReport } from "./spend-report.ts";
import { createUnmatchedReceipts } from "./unmatched-receipts.ts";
import { storeError, withStoreErrors } from "./store-error.ts";

/** What a project keeps in `.al/state.db`, for reading. */
export interface StoreReader {
  readonly history: ReturnType<typeof createHistory>;
  readonly runs: ReturnType<typeof createRuns>;
  readonly hosts: Pick<ReturnType<typeof createRunHosts>, "flush" | "of">;
  readonly receipts: Pick<ReturnType<typeof createReceipts>, "get">;
  readonly refused: Pick<ReturnType<typeof createRefusedDeliveries>, "query">;
  readonly unmatched: ReturnType<typeof createUnmatchedReceipts>;
  readonly spend: Pick<SpendStore, "account">;
  readonly spendReport: SpendReport;
  readonly settings: Pick<Settings, "paused" | "lastAlive" | "disabledAgents">;
  /** The agent's latest run that started and is over; null when there is none. */
  lastRun(agent: string): LastRun | null;
  /** How much work of each agent waits; agents without any are left out. */
  waiting(): ReadonlyMap<string, number>;
  close(): void;
}

/**
 * Opens a project's store without the project's lock: nothing is made, brought up to date or written. Null where there
 * is none. `now` gives epoch ms. Throws UserError `store_unavailable`, `store_corrupt`, `store_newer` or `store_older`.
 */
export function openStoreReader(
  projectDir: string,
  now: () => number = Date.now,
): StoreReader | null {
  const path = join(projectDir, ".al", "state.db");
  if (!existsSync(path)) return null;
  let db: DatabaseSync | undefined;
  try {
    if (statSync(path).size === 0) throw emptied(path);
    db = openToRead(path);
    mustBeCurrent(db, path);
    return readerOf(db, path, now);
  } catch (error) {
    db?.close();
    throw storeError(path, error);
  }
}

function readerOf(db: DatabaseSync, path: string, now: () => number): StoreReader {
  const lastRuns = createLastRuns(db);
  return withStoreErrors(path, {
    history: withStoreErrors(path, createHistory(db)),
    runs: withStoreErrors(path, createRuns(db)),
    hosts: withStoreErrors(path, createRunHosts(db, noCommits, now)),
    receipts: withStoreErrors(path, createReceipts(db, noCommits)),
    refused: withStoreErrors(path, createRefusedDeliveries(db, noCommits, now)),
    unmatched: withStoreErrors(path, createUnmatchedReceipts(db)),
    spend: withStoreErrors(path, createSpend(db, noCommits, now)),
    spendReport: withStoreErrors(path, createSpendReport(db, now)),
    settings: withStoreErrors(path, createSettings(db, noCommits)),
    lastRun: (agent: string) => lastRuns.of(agent),
    waiting: () => waitingIn(db),
    close: () => db.close(),
  });
}

const refuse = (): Promise<never> =>
  Promise.reject(new Error("the store was opened for reading only"));
const noCommits: GroupCommit = {
  write: refuse,
  record: refuse,
  flush: () => undefined,
  problem: () => null,
};

/** In another format columns may be missing or mean something else. */
function mustBeCurrent(db: DatabaseSync, path: string): void {
  const version = versionOf(db);
  if (version > migrations.length) throw newer(path, version);
  if (version === migrations.length) return;
  throw new UserError("store_older", `${path}: written by an earlier version of this program`, {
    hint: "al start brings it up to date",
  });
}

function waitingIn(db: DatabaseSync): ReadonlyMap<string, number> {
  const rows = db.prepare(
    `SELECT agent, count(*) AS n FROM ${openTriggers} AND state = 'queued' AND agent IS NOT NULL GROUP BY agent`,
  );
  return new Map(rows.all().map(({ agent, n }) => [String(agent), Number(n)]));
}
