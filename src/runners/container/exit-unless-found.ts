import { setTimeout as wait } from "node:timers/promises";
import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import type { RunRequest } from "../../../streams/vocabulary.ts";
import type { Life } from "../as-run.ts";
import { unlessAborted } from "../abortable.ts";
import { isUnreachable } from "./engine.ts";
import type { FoundRun, Reconciler } from "./reconcile.ts";
import { lostExit } from "../run-exit.ts";

/** Between two tries to reach the engine, in ms: the first, then doubled up to the last. */
const pauseMs = { first: 500, last: 5_000 };

/**
 * Waits for the engine, as long as the run may last, to tell of a run of an earlier scheduler that could not be asked
 * for while the engine was away: null when it can be gone on with, otherwise its exit.
 */
export async function exitUnlessFound(
  { instanceId }: RunRequest,
  { stopping, left }: Pick<Life, "stopping" | "left">,
  reconciler: Pick<Reconciler, "find">,
): Promise<RunnerEvent | null> {
  const over = AbortSignal.any([stopping, left]);
  const found = await whenReached(() => reconciler.find(instanceId), over);
  if (found?.length) return null;
  const reason =
    found === null
      ? "the engine was away when the scheduler started, and did not come back in time"
      : "the engine was away when the scheduler started, and the run was gone when it came back";
  return lostExit(reason, null);
}

async function whenReached(
  ask: () => Promise<readonly FoundRun[]>,
  over: AbortSignal,
): Promise<readonly FoundRun[] | null> {
  for (let pause = pauseMs.first; !over.aborted; pause = Math.min(2 * pause, pauseMs.last)) {
    try {
      return await ask();
    } catch (error) {
      if (!isUnreachable(error)) throw error;
    }
    await unlessAborted(wait(pause), over);
  }
  return null;
}
