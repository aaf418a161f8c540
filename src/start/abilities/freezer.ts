import { messageOf } from "../../errors.ts";

/** Stops and starts what a run runs in; nothing for a runtime that can't. Either may reject. */
export interface FreezeEdges {
  freeze(instanceId: string): Promise<void>;
  thaw(instanceId: string): Promise<void>;
}

/** Keeps runs frozen that have nothing to do but wait. */
export interface Freezer {
  freeze(instanceId: string): void;
  /** Resolves once the run can go on; it rejects never: a run that can't be thawed can at least be killed. */
  thaw(instanceId: string): Promise<void>;
  forget(instanceId: string): void;
}

/** One step after the other for each run: an engine that is slow to freeze must not freeze what was thawed since. */
export function createFreezer(edges: FreezeEdges, onProblem: (message: string) => void): Freezer {
  const frozen = new Map<string, Promise<void>>();
  const thawing = new Map<string, Promise<void>>();
  const quietly = (step: Promise<void>): Promise<void> =>
    step.catch((error: unknown) => onProblem(`a run that waits: ${messageOf(error)}`));
  return {
    freeze: (instanceId) => {
      if (frozen.has(instanceId) || thawing.has(instanceId)) return;
      frozen.set(instanceId, quietly(edges.freeze(instanceId)));
    },
    thaw: (instanceId) => {
      const freezing = frozen.get(instanceId);
      if (freezing === undefined) return thawing.get(instanceId) ?? Promise.resolve();
      frozen.delete(instanceId);
      const thawed = freezing
        .then(() => quietly(edges.thaw(instanceId)))
        .then(() => void thawing.delete(instanceId));
      thawing.set(instanceId, thawed);
      return thawed;
    },
    forget: (instanceId) => void frozen.delete(instanceId),
  };
}
