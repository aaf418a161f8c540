import type { RunEvent } from "../../streams/vocabulary.ts";

/** The instances that live now. */
export interface LiveRuns {
  has(instanceId: string): boolean;
  count(): number;
  see(event: RunEvent): void;
}

/** Follows runs by their events. */
export function createLiveRuns(): LiveRuns {
  const live = new Set<string>();
  return {
    has: (instanceId) => live.has(instanceId),
    count: () => live.size,
    see: (event) => {
      if (event.type === "started") live.add(event.instanceId);
      if (event.type === "finished") live.delete(event.instanceId);
    },
  };
}
