import { createSuspension } from "../../streams/runs/suspension.ts";
import type { RunOwner, Suspension } from "../../streams/runs/suspension.ts";

/** Owns the live runs of a graph in a test. */
export interface TestRunOwner extends RunOwner {
  readonly suspensions: ReadonlyMap<string, Suspension>;
}

export function createRunOwner(elapsed: () => number): TestRunOwner {
  const suspensions = new Map<string, Suspension>();
  return {
    suspensions,
    enter: (start) => {
      const suspension = createSuspension(start, elapsed);
      suspensions.set(start.request.instanceId, suspension);
      return suspension;
    },
  };
}
