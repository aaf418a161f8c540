import type { SchedulerContext } from "../foundation/context.ts";
import { createMemories } from "../features/memory/memory-trees.ts";
import { createBlobs } from "../foundation/files/blobs.ts";
import type { WritesOf } from "../foundation/scheduler/commit-events.ts";
import type { TreeServices } from "../runtime/runs/trees.ts";

/**
 * The services that keep files of runs: each has a kind of tree, and writes in the transaction that records the end of a run
 * what is kept of it.
 */
export function createKeptFiles(context: SchedulerContext) {
  const { store, redactor } = context;
  const blobs = createBlobs(context.projectDir);
  const memories = createMemories({ store, blobs, redactor });
  const trees: TreeServices = {
    ...memories.trees,
  };
  const writesOf: readonly WritesOf[] = [memories.onEvent];
  return { blobs, memories, trees, writesOf };
}

export type KeptFiles = ReturnType<typeof createKeptFiles>;
