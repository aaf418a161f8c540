import type { DatabaseSync } from "node:sqlite";

/** A table that grows, whose oldest rows are deleted, a limited number at a time. */
export interface Growing {
  readonly table: string;
  /** Small, so that a batch never delays a webhook's commit for long: 11 ms on average, measured on a million. */
  readonly batch: number;
  /** Which rows may be deleted; all if absent. */
  readonly where?: string;
  /** Takes a time and a number of rows; absent for a table with the columns `seq` and `at`. */
  readonly delete?: string;
}

/** The tables of a feature, and their part in what the store does as a whole. */
export interface FeatureTables {
  /** SQL for each step of `storeFormat`, which runs after that of the store; fewer if the later steps change nothing. */
  readonly steps: readonly string[];
  readonly growing?: readonly Growing[];
  /** Deletes all rows from before a time. */
  readonly expire?: string;
  /** Deletes the rows that are kept up to a time of their own, which is now. */
  readonly outdated?: string;
  /** Puts work back that the runs took which are not among `alive` (instance ids), before `recover` reads what waits. */
  readonly beforeRecovery?: (db: DatabaseSync, alive: ReadonlySet<string>) => void;
  /** Takes over from a scheduler that died, in the transaction of `recover`. */
  readonly recover?: (db: DatabaseSync) => void;
  /** Selects the hashes of the blobs that its rows name, in one column; other blobs are deleted. */
  readonly blobs?: string;
  /** Selects when a run with the id `triggers.instance_id` began to wait, epoch ms. */
  readonly waits?: string;
}
