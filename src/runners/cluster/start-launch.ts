import { setTimeout as wait } from "node:timers/promises";
import { reasonOf, UserError } from "../../errors.ts";
import { unlessAborted } from "../as-run.ts";
import type { ClusterEngine, Launch } from "./cluster-engine.ts";

export interface StartLaunchOptions {
  readonly engine: Pick<ClusterEngine, "ready" | "start" | "list">;
  /** For so long an engine that is away is waited for, in ms. */
  readonly startMs: number;
  /** Aborted when the run is over. */
  readonly over: AbortSignal;
  readonly onWaits: (text: string) => void;
  /** Between two tries, in ms. */
  readonly pauseMs: number;
}

/** What engines reject with while they are away: the same again may succeed. */
const away = "engine_unreachable";

/**
 * Starts a run by its engine, which is waited for while it is away. Resolves when the engine has the run, or the run is
 * over; rejects with the reason for a person.
 */
export async function startLaunch(launch: Launch, options: StartLaunchOptions): Promise<void> {
  const { engine, startMs, over, onWaits, pauseMs } = options;
  const until = performance.now() + startMs;
  for (let tries = 0; !over.aborted; tries += 1) {
    try {
      await engine.ready();
      // The engine may have taken it, and its answer was lost.
      if (tries > 0 && (await hasRun(engine, launch))) return;
      return await engine.start(launch);
    } catch (error) {
      if (!isAway(error) || performance.now() > until) throw error;
      onWaits(`waits for the cluster: ${reasonOf(error)}`);
    }
    await unlessAborted(wait(pauseMs, undefined, { ref: false }), over);
  }
}

async function hasRun(engine: Pick<ClusterEngine, "list">, { name }: Launch): Promise<boolean> {
  return (await engine.list()).some((run) => run.name === name);
}

function isAway(error: unknown): boolean {
  return error instanceof UserError && error.code === away;
}
