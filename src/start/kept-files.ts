import { createArtifactStore } from "../features/artifacts/artifact-store.ts";
import { createArtifacts } from "../features/artifacts/artifacts.ts";
import type { SchedulerContext } from "../foundation/context.ts";
import { createBlobs } from "../foundation/files/blobs.ts";
import type { WritesOf } from "../foundation/scheduler/commit-events.ts";
import type { TreeServices } from "../runtime/runs/trees.ts";

/**
 * The services that keep files of runs: each has a kind of tree, and writes in the transaction that records the end of a run
 * what is kept of it.
 */
export function createKeptFiles(context: SchedulerContext) {
  const blobs = createBlobs(context.projectDir);
  const artifacts = createArtifacts({
    store: context.store.tables(createArtifactStore),
    blobs,
    hide: context.redactor.split,
    mostBytes: () => context.project$.value.artifactsBytes,
    clock: context.clock,
  });
  const trees: TreeServices = { ...artifacts.trees };
  const writesOf: readonly WritesOf[] = [];
  return { blobs, trees, writesOf };
}

export type KeptFiles = ReturnType<typeof createKeptFiles>;
