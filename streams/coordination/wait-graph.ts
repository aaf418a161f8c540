/** Who waits for whom: instance ids. */
export interface WaitGraph {
  /**
   * `instanceId` waits until this is called off. What for is asked anew by each search, as it changes while the wait
   * goes on: a lock passes from hand to hand, a call leaves its queue.
   */
  add(instanceId: string, waitsFor: WaitsFor): () => void;
  /**
   * The circle that a wait of `instanceId` would close, from itself back to itself: `a-1`, `b-2`, `a-1`. Null when
   * there would be none.
   */
  circle(instanceId: string, waitsFor: WaitsFor): readonly string[] | null;
}

export type WaitsFor = () => Iterable<string>;

/** A graph in which nobody waits. A circle is only ever closed by a new wait, so that is when to look for one. */
export function createWaitGraph(): WaitGraph {
  const waits = new Map<string, Set<WaitsFor>>();
  return {
    add: (instanceId, waitsFor) => {
      const own = waits.get(instanceId) ?? new Set();
      waits.set(instanceId, own.add(waitsFor));
      return () => {
        own.delete(waitsFor);
        if (own.size === 0 && waits.get(instanceId) === own) waits.delete(instanceId);
      };
    },
    circle: (instanceId, waitsFor) =>
      pathBack(instanceId, waitsFor, (other) => targetsOf(waits.get(other) ?? [])),
  };
}

function* targetsOf(waits: Iterable<WaitsFor>): Iterable<string> {
  for (const waitsFor of waits) yield* waitsFor();
}

/** Breadth first, for the shortest path; each instance is looked at once. */
function pathBack(
  start: string,
  first: WaitsFor,
  targets: (instanceId: string) => Iterable<string>,
): readonly string[] | null {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (const instanceId of queue) {
    for (const target of instanceId === start ? first() : targets(instanceId)) {
      if (target === start) return [...pathTo(instanceId, cameFrom), start];
      if (cameFrom.has(target)) continue;
      cameFrom.set(target, instanceId);
      queue.push(target);
    }
  }
  return null;
}

function pathTo(instanceId: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const path = [instanceId];
  for (let at = cameFrom.get(instanceId); at !== undefined; at = cameFrom.get(at)) path.push(at);
  return path.reverse();
}
