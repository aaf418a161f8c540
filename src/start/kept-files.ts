import { createArtifactStore } from "../features/artifacts/artifact-store.ts";
import { createArtifacts } from "../features/artifacts/artifacts.ts";
import { createCaches } from "../features/workspace/caches.ts";
import { createWorkspaces, type WorkspaceDeps } from "../features/workspace/workspaces.ts";
import { isUntrusted as isUntrustedBy } from "../../streams/triggers/trust.ts";
import type { RunRequest } from "../../streams/vocabulary.ts";
import { packFrames, readFrames } from "../runtime/wire/file-frames.ts";
import type { SchedulerContext } from "../foundation/context.ts";
import { createMemories } from "../features/memory/memory-trees.ts";
import { createSessionStore } from "../features/sessions/session-store.ts";
import { createSessions } from "../features/sessions/sessions.ts";
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
  const { store, redactor } = context;
  const blobs = createBlobs(context.projectDir);
  const memories = createMemories({ store, blobs, redactor });
  const artifacts = createArtifacts({
    store: store.tables(createArtifactStore),
    blobs,
    redactor,
    mostBytes: () => context.project$.value.artifactsBytes,
    clock: context.clock,
  });
  const sessions = createSessions({
    store: store.tables(createSessionStore),
    blobs,
    redactValue: redactor.redactValue,
    now: Date.now,
  });
  const workspaces = createWorkspaces({ ...context, ...ofRuns });
  const isUntrusted = ({ instanceId, agent }: RunRequest): boolean =>
    isUntrustedBy(store.origins.namesOf(instanceId), agent.memory?.trusted ?? []);
  const caches = createCaches({ ...context, isUntrusted, packFrames, readFrames });
  const trees: TreeServices = {
    // First, since it is small: a run that must end has little time.
    session: sessions.trees,
    ...memories.trees,
    ...artifacts.trees,
    workspace: workspaces.trees,
    cache: caches.trees,
  };
  const writesOf: readonly WritesOf[] = [memories.onEvent, sessions.onEvent, caches.onEvent];
  /** Removes what no run used since `before`, epoch ms. */
  const removeUnused = async (before: number): Promise<void> => {
    await workspaces.removeUnused(before);
    await caches.removeUnused(before);
  };
  return { blobs, memories, trees, writesOf, removeUnused };
}

export type KeptFiles = ReturnType<typeof createKeptFiles>;
