import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { createAlerts } from "./alerts.ts";
import { createCalls } from "./calls.ts";
import { createDatabaseFiles } from "./database-files.ts";
import { openDatabase } from "./database.ts";
import { createGroupCommit } from "./group-commit.ts";
import { createHistory } from "./history.ts";
import { createLastRuns } from "./last-runs.ts";
import { createLocks } from "./locks.ts";
import { migrations } from "./migrations.ts";
import { createPastTriggers } from "./past-triggers.ts";
import { createOriginals } from "./originals.ts";
import { prune } from "./prune.ts";
import type { Retention } from "./prune.ts";
import { createReceipts } from "./receipts.ts";
import { createRefusedDeliveries } from "./refused-deliveries.ts";
import { createRuns } from "./runs.ts";
import { createRemoteRuns } from "./remote-runs.ts";
import { createRunHosts } from "./run-hosts.ts";
import { openRuns, recover } from "./recover.ts";
import type { OnLost, Times } from "./recover.ts";
import { createSpend } from "./spend.ts";
import { createSpendReport } from "./spend-report.ts";
import { createSettings } from "./settings.ts";
import { withStoreErrors } from "./store-error.ts";
import { ensureStateDir } from "./state-dir.ts";
import { createUnmatchedReceipts } from "./unmatched-receipts.ts";
import { createWaits } from "./waits.ts";
import { createWork, beginRun } from "./work.ts";
import type { DatabaseSync } from "node:sqlite";
import type { GroupCommit } from "./group-commit.ts";

/**
 * Everything that a project keeps in `.al/state.db`, which is made when there is none. `now` gives epoch ms. Throws UserError `state_dir`,
 * `store_unavailable`, `store_corrupt` or `store_newer`.
 */
export function openStore(projectDir: string, now: () => number = Date.now) {
  const path = join(ensureStateDir(projectDir), "state.db");
  const db = openDatabase(path, migrations);
  const files = createDatabaseFiles(db, path);
  const commits = createGroupCommit(db, path);
  const lastRuns = createLastRuns(db);
  const settings = createSettings(db, commits);
  const hosts = createRunHosts(db, commits, now);
  const refused = createRefusedDeliveries(db, commits, now);
  return withStoreErrors(path, {
    work: createWork(db, commits, lastRuns, now),
    history: withStoreErrors(path, createHistory(db)),
    runs: withStoreErrors(path, createRuns(db)),
    hosts: withStoreErrors(path, hosts),
    refused: withStoreErrors(path, refused),
    unmatched: withStoreErrors(path, createUnmatchedReceipts(db)),
    originals: withStoreErrors(path, createOriginals(db)),
    receipts: withStoreErrors(path, createReceipts(db, commits)),
    settings: withStoreErrors(path, settings),
    channels: withStoreErrors(path, createChannels(db, commits)),
    remoteRuns: withStoreErrors(path, createRemoteRuns(db, commits)),
    locks: withStoreErrors(path, createLocks(db, commits)),
    calls: withStoreErrors(path, createCalls(db, commits)),
    waits: withStoreErrors(path, createWaits(db, commits)),
    past: withStoreErrors(path, createPastTriggers(db, commits)),
    spend: withStoreErrors(path, createSpend(db, commits, now)),
    alerts: withStoreErrors(path, createAlerts(db, commits)),
    spendReport: withStoreErrors(path, createSpendReport(db, now)),
    /** The agent's latest run that started and is over; null when there is none. */
    lastRun: (agent: string) => lastRuns.of(agent),
    /** The runs that an earlier scheduler did not see the end of; until `recover`, to find out which of them live. */
    openRuns: () => openRuns(db, { now: now(), stoppedAt: settings.stoppedAt() }),
    /** Takes over what an earlier scheduler left; once, before anything else is written. */
    recover: (alive: ReadonlySet<string> = new Set(), onLost?: OnLost) => {
      const times = (): Times => ({ now: now(), stoppedAt: settings.stoppedAt() });
      return recover(db, commits, lastRuns, { alive, onLost }, times);
    },
    /** Why nothing can be stored now, for a person; null while it can, as far as the last commit showed. */
    problem: () => commits.problem(),
    prune: (retention: Retention) => prune(db, commits, retention),
    files: withStoreErrors(path, files),
    /** Commits what waits and closes; later writes are rejected. */
    close: () => {
      hosts.close();
      refused.close();
      commits.flush();
      // The folder is gone when the project was moved or its state removed.
      if (db.isOpen && !files.areInPlace() && existsSync(dirname(path))) files.save();
      if (db.isOpen) db.close();
    },
  });
}

export type Store = ReturnType<typeof openStore>;

/** How a run reaches the scheduler. */
interface Channel {
  readonly instanceId: string;
  /** SHA-256 of the run's token, hex. */
  readonly tokenHash: string;
  /** Absolute path of the directory that holds the run's socket. */
  readonly dir: string;
}

/** Reads and writes `channels`, those of runs that live, so that a restarted scheduler opens the same ones again. */
function createChannels(db: DatabaseSync, { record }: GroupCommit) {
  const insert = db.prepare("INSERT INTO channels VALUES (?, ?, ?)");
  const begin = db.prepare(beginRun);
  const remove = db.prepare("DELETE FROM channels WHERE instance_id = ?");
  const select = db.prepare(
    "SELECT instance_id AS instanceId, token_hash AS tokenHash, dir FROM channels",
  );
  return {
    /** Records that the run begins as well. Resolves once committed; waits for the store, as remove does. */
    add: ({ instanceId, tokenHash, dir }: Channel): Promise<void> =>
      record(() => {
        insert.run(instanceId, tokenHash, dir);
        begin.run(instanceId);
      }),
    remove: (instanceId: string): Promise<void> =>
      record(() => {
        remove.run(instanceId);
      }),
    all: (): readonly Channel[] => select.all() as unknown as Channel[],
  };
}
