import { createWorkspaces, type WorkspaceDeps } from "../features/workspace/workspaces.ts";
import type { SchedulerContext } from "../foundation/context.ts";
import { createBlobs } from "../foundation/files/blobs.ts";
import type { WritesOf } from "../foundation/scheduler/commit-events.ts";
import type { TreeServices } from "../runtime/runs/trees.ts";

/**
 * The services that keep files of runs: each has a kind of tree, and writes in the transaction that records the end of a run
 * what is kept of it.
 */
export function createKeptFiles(
  context: SchedulerContext,
  ofRuns: Pick<WorkspaceDeps, "tokenFor" | "untilEnd">,
) {
  const blobs = createBlobs(context.projectDir);
  const workspaces = createWorkspaces({ ...context, ...ofRuns });
  const trees: TreeServices = {
    workspace: workspaces.trees,
  };
  const writesOf: readonly WritesOf[] = [];
  return { blobs, trees, writesOf, removeUnused: workspaces.removeUnused };
}

export type KeptFiles = ReturnType<typeof createKeptFiles>;
