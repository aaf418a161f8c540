import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { Problem } from "../errors.ts";
import { createCalls } from "./calls.ts";
import { createDatabaseFiles, emptied, isCurrent, openDatabase } from "./database.ts";
import { createGroupCommit, type GroupCommit } from "./group-commit.ts";
import { createGatherings } from "./gatherings.ts";
import { createHistory } from "./history.ts";
import { createLocks } from "./locks.ts";
import { storeFormat, formatWith } from "./migrations.ts";
import { createOrigins } from "./origins.ts";
import { createPastTriggers } from "./past-triggers.ts";
import { prune, type Retention } from "./prune.ts";
import { openToRead } from "./read-beside.ts";
import { createReceipts } from "./receipts.ts";
import { openRuns, recover, type OnLost, type Times } from "./recover.ts";
import { createRemoteRuns } from "./remote-runs.ts";
import { createRunHosts } from "./run-hosts.ts";
import { createOriginals, createRuns } from "./runs.ts";
import { createSettings } from "./settings.ts";
import { createSlotStore } from "./slots.ts";
import type { FeatureTables } from "./feature-tables.ts";
import { ensureStateDir } from "./state-dir.ts";
import { storeError, withStoreErrors } from "./store-error.ts";
import { createSuperseded } from "./superseded.ts";
import { createWaitingWork } from "./waiting-work.ts";
import { createWaits } from "./waits.ts";
import { beginRun, createLastRuns, createWork } from "./work.ts";

/** Readers and writers of the tables of `state.db`. */
function createParts(db: DatabaseSync, commits: GroupCommit, now: () => number) {
  const lastRuns = createLastRuns(db);
  return {
    lastRuns,
    work: createWork(db, commits, lastRuns, now),
    waitingWork: createWaitingWork(db, commits),
    history: createHistory(db),
    runs: createRuns(db),
    origins: createOrigins(db),
    hosts: createRunHosts(db, commits, now),
    originals: createOriginals(db),
    receipts: createReceipts(db, commits),
    settings: createSettings(db, commits, now),
    slots: createSlotStore(db, commits, now),
    gatherings: createGatherings(db, commits),
    channels: createChannels(db, commits),
    remoteRuns: createRemoteRuns(db, commits),
    locks: createLocks(db, commits),
    calls: createCalls(db, commits),
    waits: createWaits(db, commits),
    past: createPastTriggers(db, commits),
    superseded: createSuperseded(db),
  };
}

/**
 * Everything that a project keeps in `.al/state.db`, which is created if it is missing. `now` gives epoch ms. Throws
 * Problem `state_dir`, `store_unavailable`, `store_corrupt`, `store_older` or `store_newer`.
 */
export function openStoreWith(
  features: readonly FeatureTables[],
  projectDir: string,
  now: () => number,
) {
  const path = join(ensureStateDir(projectDir), "state.db");
  const db = openDatabase(path, formatWith(features));
  const files = createDatabaseFiles(db, path);
  const commits = createGroupCommit(db, path);
  const parts = createParts(db, commits, now);
  const { hosts, lastRuns, settings } = parts;
  const ofFeatures = new Map<CreateTables<object>, Tables>();
  return withStoreErrors(path, {
    ...parts,
    /** The agent's latest run that started and ended; null before the first. */
    lastRun: (agent: string) => lastRuns.of(agent),
    /** The runs without a recorded end; called before `recover`, to find out which of them live. */
    openRuns: () => openRuns(db, features, { now: now(), stoppedAt: settings.stoppedAt() }),
    /** Takes over the work of an earlier scheduler; called once, before any other write. */
    recover: (alive: ReadonlySet<string> = new Set(), onLost?: OnLost) => {
      const times = (): Times => ({ now: now(), stoppedAt: settings.stoppedAt() });
      const isWorkHeld = settings.isWorkHeld();
      return recover(db, commits, lastRuns, { alive, onLost, isWorkHeld, features }, times);
    },
    /** Why nothing can be stored now, for a person; null if the last commit succeeded. */
    problem: () => commits.problem(),
    /** The hashes of the blobs that rows name. */
    usedBlobs: (): ReadonlySet<string> => usedBlobs(db, features),
    prune: (retention: Retention) => prune(db, commits, features, retention),
    files,
    /** The tables of a feature, which `create` reads and writes; created once. */
    tables: <T extends object>(create: CreateTables<T>): T => {
      const known = ofFeatures.get(create) ?? withStoreErrors(path, create(db, commits, now));
      ofFeatures.set(create, known);
      return known as T;
    },
    /** Commits pending writes and closes; later writes are rejected. */
    close: () => {
      hosts.close();
      for (const tables of ofFeatures.values()) tables.close?.();
      commits.flush();
      // The folder is gone when the project was moved or its state removed.
      if (db.isOpen && !files.areInPlace() && existsSync(dirname(path))) files.save();
      if (db.isOpen) db.close();
    },
  });
}

export type Store = ReturnType<typeof openStoreWith>;

function usedBlobs(db: DatabaseSync, features: readonly FeatureTables[]): ReadonlySet<string> {
  const used = new Set<string>();
  for (const { blobs } of features) {
    if (blobs === undefined) continue;
    for (const row of db.prepare(blobs).iterate()) used.add(String(Object.values(row)[0]));
  }
  return used;
}

type CreateTables<T extends object> = (
  db: DatabaseSync,
  commits: GroupCommit,
  now: () => number,
) => T;
/** With `close`, passes pending writes to the last commit. */
type Tables = object & { readonly close?: () => void };

/**
 * Opens a project's store without the project's lock; writes are rejected, and no file changes. Null if it is missing.
 * `now` gives epoch ms. Throws Problem `store_unavailable`, `store_corrupt`, `store_newer` or `store_older`.
 */
export function openStoreReader(projectDir: string, now: () => number = Date.now) {
  const path = join(projectDir, ".al", "state.db");
  if (!existsSync(path)) return null;
  let db: DatabaseSync | undefined;
  try {
    if (statSync(path).size === 0) throw emptied(path);
    const opened = openToRead(path);
    db = opened;
    // In another format columns may be missing or mean something else.
    if (!isCurrent(opened, path, storeFormat)) throw outdated(path);
    const parts = createParts(opened, noCommits, now);
    return withStoreErrors(path, {
      ...parts,
      lastRun: (agent: string) => parts.lastRuns.of(agent),
      tables: <T extends object>(create: CreateTables<T>): T =>
        withStoreErrors(path, create(opened, noCommits, now)),
      close: () => opened.close(),
    });
  } catch (error) {
    db?.close();
    throw storeError(path, error);
  }
}

export type StoreReader = NonNullable<ReturnType<typeof openStoreReader>>;

const refuse = (): Promise<never> =>
  Promise.reject(new Error("the store was opened for reading only"));
const noCommits: GroupCommit = {
  write: refuse,
  record: refuse,
  flush: () => undefined,
  problem: () => null,
};

function outdated(path: string): Problem {
  return new Problem(
    "store_older",
    `${path}: written by an earlier version of this program`,
    "Update it with `al start`.",
  );
}

/** How a run reaches the scheduler. */
interface Channel {
  readonly instanceId: string;
  /** SHA-256 of the run's token, hex. */
  readonly tokenHash: string;
  /** Absolute path of the directory that holds the run's socket. */
  readonly dir: string;
}

/** Reads and writes `channels` of live runs, so that a restarted scheduler opens the same ones again. */
function createChannels(db: DatabaseSync, { record }: GroupCommit) {
  const insert = db.prepare("INSERT INTO channels VALUES (?, ?, ?)");
  const begin = db.prepare(beginRun);
  const remove = db.prepare("DELETE FROM channels WHERE instance_id = ?");
  const select = db.prepare(
    "SELECT instance_id AS instanceId, token_hash AS tokenHash, dir FROM channels",
  );
  return {
    /** Stores the channel of a run, and thereby that it begins. Resolves once committed; waits for the store, as remove does. */
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
