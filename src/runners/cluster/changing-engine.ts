import type { ClusterEngine, PlacedRun } from "./cluster-engine.ts";

/** Engines that hold connections close them. */
export interface ClosableEngine extends ClusterEngine {
  close?(): void;
}

/** An engine, and what tells it from one that another config asks for. */
export interface ActiveEngine {
  readonly key: string;
  /** Loads and makes it. Rejects with a UserError. */
  readonly make: () => Promise<ClosableEngine>;
}

interface Kept {
  readonly engine: Promise<ClosableEngine>;
  /** Runs that it has, as far as is known, and that are not removed. */
  readonly names: Set<string>;
}

/**
 * The engine that the config asks for now: it starts all runs from now on. One that is not asked for any more is kept
 * for as long as something of its runs may be left. `active` throws a UserError when there is none.
 */
export function createChangingEngine(active: () => ActiveEngine): Required<ClosableEngine> {
  const all = new Map<string, Kept>();
  const current = (): Kept => {
    const { key, make } = active();
    const kept = all.get(key) ?? { engine: make(), names: new Set<string>() };
    all.set(key, kept);
    kept.engine.catch(() => all.delete(key));
    for (const [other, { engine, names }] of all) {
      if (kept.names === names || names.size > 0) continue;
      all.delete(other);
      closeOf(engine);
    }
    return kept;
  };
  const knownOwner = (name: string): Kept | undefined =>
    [...all.values()].find(({ names }) => names.has(name));
  const ownerOf = (name: string): Kept => knownOwner(name) ?? current();
  /** An earlier scheduler's runs are on the engine that first shows them. */
  const listOf = async ({ engine, names }: Kept): Promise<readonly PlacedRun[]> => {
    const runs = await (await engine).list();
    for (const { name } of runs) if (knownOwner(name) === undefined) names.add(name);
    return runs;
  };
  return {
    ready: async () => (await current().engine).ready(),
    start: async (launch) => {
      const { engine, names } = current();
      names.add(launch.name);
      await (await engine).start(launch);
    },
    remove: async (name) => {
      const { engine, names } = ownerOf(name);
      await (await engine).remove(name);
      names.delete(name);
    },
    list: async () => {
      const newest = current();
      const others = [...all.values()].filter((kept) => kept !== newest);
      const lists = await Promise.all([newest, ...others].map(listOf));
      return lists.flat();
    },
    close: () => {
      for (const { engine } of all.values()) closeOf(engine);
      all.clear();
    },
  };
}

function closeOf(engine: Promise<ClosableEngine>): void {
  engine.then(
    (made) => made.close?.(),
    // One that could not be made holds nothing.
    () => undefined,
  );
}
