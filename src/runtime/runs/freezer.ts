import { messageOf } from "../../foundation/errors.ts";

/** Stops and starts the environment of a run; nothing for a runtime that can't. Either may reject. */
export interface FreezeSteps {
  freeze(): Promise<void>;
  thaw(): Promise<void>;
}

/** Freezes one run while it only waits. */
export interface Freezer {
  freeze(): void;
  /** Resolves once the run works again; it never rejects: a run that can't be thawed can at least be killed. */
  thaw(): Promise<void>;
  /** The run is over. */
  forget(): void;
}

/** One step after the other: an engine that is slow to freeze must not freeze a run that was thawed since. */
export function createFreezer(steps: FreezeSteps, onProblem: (message: string) => void): Freezer {
  let freezing: Promise<void> | null = null;
  let thawing: Promise<void> | null = null;
  const logged = (step: Promise<void>): Promise<void> =>
    step.catch((error: unknown) => onProblem(`a run that waits: ${messageOf(error)}`));
  return {
    freeze: () => {
      if (freezing !== null || thawing !== null) return;
      freezing = logged(steps.freeze());
    },
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
    forget: () => {
      freezing = null;
    },
  };
}
