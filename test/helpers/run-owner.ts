import { createSuspension, type RunOwner, type Suspension } from "../../streams/runs/suspension.ts";

/** Owns the live runs of a graph in a test. */
export interface TestRunOwner extends RunOwner {
  /** Instances whose last call to a model was refused, with the reason. */
  readonly refused: Map<string, string>;
  readonly suspensions: ReadonlyMap<string, Suspension>;
}

export function createRunOwner(elapsed: () => number): TestRunOwner {
  const suspensions = new Map<string, Suspension>();
  const refused = new Map<string, string>();
  return {
    suspensions,
    refused,
    factsAtEnd: (instanceId) => ({ overBudget: refused.get(instanceId) ?? null }),
    enter: (start) => {
      const suspension = createSuspension(start, elapsed);
      suspensions.set(start.request.instanceId, suspension);
      return suspension;
    },
  };
}
