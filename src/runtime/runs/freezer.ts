import { setTimeout as wait } from "node:timers/promises";
import { messageOf } from "../../foundation/errors.ts";

/** Stops and starts the environment of a run; a no-op for a runtime that can't. Either may reject. */
export interface FreezeSteps {
  freeze(): Promise<void>;
  thaw(): Promise<void>;
}

/** Time between two attempts to thaw a run, in ms. */
const againMs = 1_000;

/** Runs the steps in order: a slow engine must not freeze a run that was thawed since. */
export function createFreezer(steps: FreezeSteps, onProblem: (message: string) => void) {
  let freezing: Promise<void> | null = null;
  let thawing: Promise<void> | null = null;
  let isOver = false;
  const report = (error: unknown): void => onProblem(`a run that waits: ${messageOf(error)}`);
  /** An engine that is away is asked again: a run that stays frozen would never read its answer. */
  const thawOnce = async (): Promise<void> => {
    for (let attempt = 1; !isOver; attempt += 1) {
      try {
        return await steps.thaw();
      } catch (error) {
        if (attempt === 1) report(error);
        await wait(againMs, undefined, { ref: false });
      }
    }
  };
  return {
    freeze: () => {
      if (freezing !== null || thawing !== null) return;
      freezing = steps.freeze().catch(report);
    },
    /** Resolves once the run works again or has ended; never rejects. */
    thaw: () => {
      if (freezing === null) return thawing ?? Promise.resolve();
      const frozen = freezing;
      freezing = null;
      thawing = frozen.then(thawOnce).then(() => {
        thawing = null;
      });
      return thawing;
    },
    /** The run has ended. */
    forget: () => {
      freezing = null;
      isOver = true;
    },
  };
}

/** Freezes one run while it only waits. */
export type Freezer = ReturnType<typeof createFreezer>;
