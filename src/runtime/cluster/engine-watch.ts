import type { EngineReport } from "../../../streams/runs/lease-events.ts";
import { reasonOf } from "../../foundation/errors.ts";
import { runName, type ClusterEngine } from "./cluster-engine.ts";
import type { RemoteProcess } from "./remote-process.ts";

/** Time between two polls of the engine, in ms. */
export const defaultPollMs = 2_000;
/** Maximum time between two polls of an engine that does not answer, in ms. */
const longestPauseMs = 15_000;

const gone: EngineReport = { state: "gone", node: null, problem: null, endings: 0 };

export function watchEngine(engine: ClusterEngine, pollMs = defaultPollMs) {
  const all = new Map<string, RemoteProcess>();
  let timer: NodeJS.Timeout | undefined;
  let isAsking = false;
  let pauseMs = pollMs;

  const look = async (): Promise<void> => {
    timer = undefined;
    isAsking = true;
    // A run added while the engine answers may be missing in the answer.
    const asking = [...all].filter(([, watched]) => watched.wantsReport());
    if (asking.length > 0) pauseMs = await report(asking, engine, pollMs, pauseMs);
    isAsking = false;
    arm();
  };
  const arm = (): void => {
    if (all.size > 0 && !isAsking) timer ??= setTimeout(() => void look(), pauseMs);
  };
  return {
    /** Watches a run until the returned function is called. */
    add: (instanceId: string, watched: RemoteProcess): (() => void) => {
      all.set(instanceId, watched);
      arm();
      return () => {
        all.delete(instanceId);
        if (all.size > 0) return;
        clearTimeout(timer);
        timer = undefined;
      };
    },
  };
}

/** The engine is polled for all runs at once, and only while one of them needs it. */
export type EngineWatch = ReturnType<typeof watchEngine>;

/** Resolves to the pause before the next poll. */
async function report(
  asking: readonly (readonly [string, RemoteProcess])[],
  engine: ClusterEngine,
  pollMs: number,
  pauseMs: number,
): Promise<number> {
  try {
    const placed = new Map((await engine.list()).map((run) => [run.name, run]));
    for (const [instanceId, watched] of asking) {
      watched.reported(placed.get(runName(instanceId)) ?? gone);
    }
    return pollMs;
  } catch (error) {
    const problem = `the cluster can't be queried: ${reasonOf(error)}`;
    const unknown: EngineReport = { state: "waiting", node: null, problem, endings: 0 };
    for (const [, watched] of asking) watched.reported(unknown);
    return Math.min(2 * pauseMs, longestPauseMs);
  }
}
