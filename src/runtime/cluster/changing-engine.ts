import { reasonOf } from "../../foundation/errors.ts";
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
  /** Instances of the runs that it has, as far as is known, and that are not removed, by name. */
  readonly runs: Map<string, string>;
}

/**
 * The engine that the config asks for now: it starts all runs from now on. One that is not asked for any more is kept
 * for as long as something of its runs may be left. `active` throws a UserError when there is none.
 */
export function createChangingEngine(active: () => ActiveEngine): Required<ClosableEngine> {
  const all = new Map<string, Kept>();
  const current = (): Kept => {
    const { key, make } = active();
    const kept = all.get(key) ?? { engine: make(), runs: new Map<string, string>() };
    all.set(key, kept);
    kept.engine.catch(() => all.delete(key));
    for (const [other, { engine, runs }] of all) {
      if (kept.runs === runs || runs.size > 0) continue;
      all.delete(other);
      closeOf(engine);
    }
    return kept;
  };
  const knownOwner = (name: string): Kept | undefined =>
    [...all.values()].find(({ runs }) => runs.has(name));
  const ownerOf = (name: string): Kept => knownOwner(name) ?? current();
  /** An earlier scheduler's runs are on the engine that first shows them. */
  const listOf = async ({ engine, runs }: Kept): Promise<readonly PlacedRun[]> => {
    const listed = await (await engine).list();
    for (const { name, instanceId } of listed) {
      if (knownOwner(name) === undefined) runs.set(name, instanceId);
    }
    return listed;
  };
  return {
    ready: async () => (await current().engine).ready(),
    start: async (launch) => {
      const { engine, runs } = current();
      runs.set(launch.name, launch.instanceId);
      await (await engine).start(launch);
    },
    remove: async (name) => {
      const { engine, runs } = ownerOf(name);
      await (await engine).remove(name);
      runs.delete(name);
    },
    list: async () => {
      const newest = current();
      const others = [...all.values()].filter((kept) => kept !== newest);
      const ofOthers = others.map((kept) =>
        listOf(kept).catch((error: unknown) => unknownRuns(kept, reasonOf(error))),
      );
      return (await Promise.all([listOf(newest), ...ofOthers])).flat();
    },
    close: () => {
      for (const { engine } of all.values()) closeOf(engine);
      all.clear();
    },
  };
}

/** For an engine that is away for good no run of another one waits. */
function unknownRuns({ runs }: Kept, problem: string): readonly PlacedRun[] {
  const unknown = { state: "waiting", node: null, problem, endings: 0 } as const;
  return [...runs].map(([name, instanceId]) => ({ name, instanceId, ...unknown }));
}

function closeOf(engine: Promise<ClosableEngine>): void {
  engine.then(
    (made) => made.close?.(),
    // One that could not be made holds nothing.
    () => undefined,
  );
}
