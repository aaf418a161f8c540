import type { Job } from "../../foundation/contracts/job.ts";
import type { TreeLimits } from "../../foundation/contracts/file-tree.ts";
import type { RunSocket } from "./bridge/while-away.ts";
import type { Emit } from "./harness.ts";

/** The folders of a run whose files come from the scheduler, or are sent to it. */
export interface RunTrees {
  /** Unpacks the trees with `get`. Rejects if one can't be received. */
  readonly unpack: () => Promise<void>;
  /** Sends the trees with `put`; logs a warning for each that is not kept. Never rejects. */
  readonly pack: (signal: AbortSignal) => Promise<void>;
}

export function createRunTrees(_job: Job, _runSocket: RunSocket, _emit: Emit): RunTrees {
  throw new Error("not written yet");
}

/**
 * Receives a tree into a new folder, absolute, which appears once it is whole; resolves to the number of files. Waits for a
 * scheduler that restarts. Rejects with a Problem if the run may not have it or it breaks a limit.
 */
export function receiveTree(
  _runSocket: RunSocket,
  _name: string,
  _folder: string,
  _limits: TreeLimits,
  _signal: AbortSignal,
): Promise<number> {
  throw new Error("not written yet");
}
