import type { DatabaseSync } from "node:sqlite";
import type { GroupCommit } from "./group-commit.ts";

/** How a run reaches the scheduler. */
export interface Channel {
  readonly instanceId: string;
  /** SHA-256 of the run's token, hex. */
  readonly tokenHash: string;
  /** Absolute path of the directory that holds the run's socket. */
  readonly dir: string;
}

/** The channels of runs that live, so that a restarted scheduler opens the same ones again. */
export interface Channels {
  /** Resolves once committed; waits for the store, as remove does. */
  add(channel: Channel): Promise<void>;
  remove(instanceId: string): Promise<void>;
  all(): readonly Channel[];
}

/** Reads and writes `channels`. */
export function createChannels(db: DatabaseSync, { record }: GroupCommit): Channels {
  const insert = db.prepare("INSERT INTO channels VALUES (?, ?, ?)");
  const remove = db.prepare("DELETE FROM channels WHERE instance_id = ?");
  const select = db.prepare(
    "SELECT instance_id AS instanceId, token_hash AS tokenHash, dir FROM channels",
  );
  return {
    add: ({ instanceId, tokenHash, dir }) =>
      record(() => {
        insert.run(instanceId, tokenHash, dir);
      }),
    remove: (instanceId) =>
      record(() => {
        remove.run(instanceId);
      }),
    all: () => select.all() as unknown as Channel[],
  };
}
