import { setTimeout as wait } from "node:timers/promises";
import { reasonOf, UserError } from "../../foundation/errors.ts";
import { unlessAborted } from "../runners/as-run.ts";
import { isPartial } from "./cluster-engine.ts";
import type { ClusterEngine, Launch } from "./cluster-engine.ts";

export interface StartLaunchOptions {
  readonly engine: Pick<ClusterEngine, "ready" | "start" | "list" | "remove">;
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
      if (tries > 0 && (await hasTaken(engine, launch))) return;
      return await engine.start(launch);
    } catch (error) {
      if (!isAway(error) || performance.now() > until) throw error;
      onWaits(`waits for the cluster: ${reasonOf(error)}`);
    }
    await unlessAborted(wait(pauseMs, undefined, { ref: false }), over);
  }
}

/**
 * Whether the engine took the run by an earlier try, whose answer was lost. What a try that broke off has made is removed:
 * it would be in the way of the next one.
 */
async function hasTaken(
  engine: Pick<ClusterEngine, "list" | "remove">,
  { name }: Launch,
): Promise<boolean> {
  const run = (await engine.list()).find((each) => each.name === name);
  if (run !== undefined && !isPartial(run)) return true;
  await engine.remove(name);
  return false;
}

function isAway(error: unknown): boolean {
  return error instanceof UserError && error.code === away;
}
