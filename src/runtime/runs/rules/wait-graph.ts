/** An instance that must end first, or several of which one is enough. */
export type WaitTarget = string | readonly string[];
export type WaitsFor = () => Iterable<WaitTarget>;

/** A graph without waits. Only a new wait can close a cycle, so a search is needed only then. */
export function createWaitGraph() {
  const waits = new Map<string, Set<WaitsFor>>();
  return {
    /**
     * Adds a wait of `instanceId`; the returned function removes it. Each search calls `waitsFor` again, as its result
     * changes during the wait: a lock passes to another run, a call leaves its queue.
     */
    add: (instanceId: string, waitsFor: WaitsFor): (() => void) => {
      const own = waits.get(instanceId) ?? new Set();
      waits.set(instanceId, own.add(waitsFor));
      return () => {
        own.delete(waitsFor);
        if (own.size === 0 && waits.get(instanceId) === own) waits.delete(instanceId);
      };
    },
    /**
     * The cycle that a wait of `instanceId` would close, from itself back to itself: `a-1`, `b-2`, `a-1`. Null if the
     * wait closes no cycle, or can still end: one of several runs is enough, and one of them works.
     */
    cycle: (instanceId: string, waitsFor: WaitsFor): readonly string[] | null => {
      const targets: Targets = (other) =>
        other === instanceId ? waitsFor() : targetsOf(waits.get(other) ?? []);
      const path = pathBack(instanceId, targets);
      return path === null || canEnd(instanceId, targets) ? null : path;
    },
  };
}

/** Which runs wait for which, by instance id. */
export type WaitGraph = ReturnType<typeof createWaitGraph>;

type Targets = (instanceId: string) => Iterable<WaitTarget>;

function* targetsOf(waits: Iterable<WaitsFor>): Iterable<WaitTarget> {
  for (const waitsFor of waits) yield* waitsFor();
}

/** Breadth first, for the shortest path; each instance is visited once. */
function pathBack(start: string, targets: Targets): readonly string[] | null {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (const instanceId of queue) {
    for (const target of [...targets(instanceId)].flat()) {
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

/** Removes runs that wait for no run, then runs that wait only for those, and so on: whether `start` is removed. */
function canEnd(start: string, targets: Targets): boolean {
  const left = reachable(start, targets);
  const ending = new Set<string>();
  const ends = (target: WaitTarget): boolean =>
    typeof target === "string" ? ending.has(target) : target.some((one) => ending.has(one));
  for (let before = -1; before < ending.size;) {
    before = ending.size;
    // Runs found last wait for the fewest.
    for (const [instanceId, waited] of [...left].reverse()) {
      if (!waited.every(ends)) continue;
      ending.add(instanceId);
      left.delete(instanceId);
    }
  }
  return ending.has(start);
}

/** All runs that `start` waits for, directly or not, with the targets of each. */
function reachable(start: string, targets: Targets): Map<string, readonly WaitTarget[]> {
  const found = new Map<string, readonly WaitTarget[]>([[start, [...targets(start)]]]);
  for (const waited of found.values()) {
    for (const target of waited.flat()) {
      if (!found.has(target)) found.set(target, [...targets(target)]);
    }
  }
  return found;
}

/** Adds to the set of a key, creating it if needed. */
export function addTo<T>(sets: Map<string, Set<T>>, key: string, value: T): void {
  const set = sets.get(key) ?? new Set();
  sets.set(key, set.add(value));
}

/** Removes from the set of a key; an empty set is removed. */
export function removeFrom<T>(sets: Map<string, Set<T>>, key: string, value: T): void {
  const set = sets.get(key);
  set?.delete(value);
  if (set?.size === 0) sets.delete(key);
}
