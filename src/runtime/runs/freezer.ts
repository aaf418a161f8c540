import { setTimeout as wait } from "node:timers/promises";
import { messageOf } from "../../foundation/errors.ts";

/** Stops and starts the environment of a run; a no-op for a runtime that can't. Either may reject. */
export interface FreezeSteps {
  freeze(): Promise<void>;
  thaw(): Promise<void>;
}

/** Time between two attempts to thaw a run, in ms. */
const againMs = 1_000;

/** Runs one step at a time, and only towards the latest request: a slow engine must not freeze a run that was thawed since. */
export function createFreezer(steps: FreezeSteps, onProblem: (message: string) => void) {
  let isWanted = false;
  let isFrozen = false;
  let isOver = false;
  let working: Promise<void> | null = null;
  const report = (error: unknown): void => onProblem(`a waiting run: ${messageOf(error)}`);
  /** An engine that is away is asked again: a run that stays frozen would never read its answer. */
  const thawOnce = async (): Promise<void> => {
    for (let attempt = 1; !isOver && !isWanted; attempt += 1) {
      try {
        await steps.thaw();
        isFrozen = false;
        return;
      } catch (error) {
        if (attempt === 1) report(error);
        await wait(againMs, undefined, { ref: false });
      }
    }
  };
  const follow = async (): Promise<void> => {
    while (!isOver && isWanted !== isFrozen) {
      if (!isWanted) await thawOnce();
      else {
        isFrozen = true;
        await steps.freeze().catch(report);
      }
    }
    working = null;
  };
  const want = (next: boolean): Promise<void> => {
    isWanted = next;
    if (isOver) return Promise.resolve();
    if (isWanted !== isFrozen) working ??= follow();
    return working ?? Promise.resolve();
  };
  return {
    freeze: () => void want(true),
    /** Resolves once the run works again or has ended; never rejects. */
    thaw: () => want(false),
    /** The run has ended. */
    forget: () => {
      isOver = true;
    },
  };
}

/** Freezes one run while it only waits. */
export type Freezer = ReturnType<typeof createFreezer>;
