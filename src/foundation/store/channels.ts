import type { DatabaseSync } from "node:sqlite";
import type { GroupCommit } from "./group-commit.ts";
import { beginRun } from "./work.ts";

/** How a run reaches the scheduler. */
export interface Channel {
  readonly instanceId: string;
  /** SHA-256 of the run's token, hex. */
  readonly tokenHash: string;
  /** Absolute path of the directory that holds the run's socket. */
  readonly dir: string;
}

/** Reads and writes `channels`, those of runs that live, so that a restarted scheduler opens the same ones again. */
export function createChannels(db: DatabaseSync, { record }: GroupCommit) {
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
