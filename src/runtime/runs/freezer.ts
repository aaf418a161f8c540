import { messageOf } from "../../foundation/errors.ts";

/** Stops and starts the environment of a run; a no-op for a runtime that can't. Either may reject. */
export interface FreezeSteps {
  freeze(): Promise<void>;
  thaw(): Promise<void>;
}

/** Runs the steps in order: a slow engine must not freeze a run that was thawed since. */
export function createFreezer(steps: FreezeSteps, onProblem: (message: string) => void) {
  let freezing: Promise<void> | null = null;
  let thawing: Promise<void> | null = null;
  const logged = (step: Promise<void>): Promise<void> =>
    step.catch((error: unknown) => onProblem(`a run that waits: ${messageOf(error)}`));
  return {
    freeze: () => {
      if (freezing !== null || thawing !== null) return;
      freezing = logged(steps.freeze());
    },
    /** Resolves once the run works again; never rejects: a run that can't be thawed can still be killed. */
    thaw: () => {
      if (freezing === null) return thawing ?? Promise.resolve();
      const frozen = freezing;
      freezing = null;
      thawing = frozen
        .then(() => logged(steps.thaw()))
        .then(() => {
          thawing = null;
        });
      return thawing;
    },
    /** The run has ended. */
    forget: () => {
      freezing = null;
    },
  };
}

/** Freezes one run while it only waits. */
export type Freezer = ReturnType<typeof createFreezer>;
