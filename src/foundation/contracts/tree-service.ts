import type { RunRequest } from "../../../streams/vocabulary.ts";
import type { TreeEntries, TreeUpload } from "./file-tree.ts";
import type { JobTree } from "./job.ts";

/** The live run that sends or receives a tree. */
export interface TreeRun {
  readonly instanceId: string;
  readonly request: RunRequest;
}

/** The answer to an upload. */
export interface TreeAnswer {
  /** How many files are stored. */
  readonly kept: number;
  /** Sentences that the run logs as warnings. */
  readonly problems: readonly string[];
}

/** A feature's service for one kind of tree. */
export interface TreeService {
  /** The trees of this run, as its job names them; [] for none. Also called before each upload and download. */
  readonly treesOf: (request: RunRequest) => readonly JobTree[] | Promise<readonly JobTree[]>;
  /** Whether the run may receive a tree that its job does not name, such as `call/<callId>`. */
  readonly mayGet?: (run: TreeRun, name: string) => boolean;
  /** The entries that the run receives; null for an empty tree. */
  readonly read?: (run: TreeRun, name: string) => Promise<TreeEntries | null>;
  /**
   * Stores the files that the run sends, once the last one was read: iteration throws a Problem if the tree breaks a
   * limit, is cut or stalls. A repeated upload replaces the first. Rejects with a Problem, which the run logs.
   */
  readonly write?: (run: TreeRun, name: string, entries: TreeUpload) => Promise<TreeAnswer>;
}
