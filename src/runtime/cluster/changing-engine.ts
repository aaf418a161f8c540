import { reasonOf } from "../../foundation/errors.ts";
import type { ClusterEngine, PlacedRun } from "./cluster-engine.ts";

/** An engine, with a key that differs for another config. */
export interface ActiveEngine {
  readonly key: string;
  /** Loads and makes it. Rejects with a Problem. */
  readonly make: () => Promise<ClusterEngine>;
}

interface UsedEngine {
  readonly engine: Promise<ClusterEngine>;
  /** Instances of its known runs that are not removed yet, by name. */
  readonly runs: Map<string, string>;
}

/**
 * The engine of the active config, which starts all new runs. The engine of an earlier config is kept while its runs
 * may have leftovers. `active` throws a Problem if the config has no engine.
 */
export function createChangingEngine(active: () => ActiveEngine): ClusterEngine {
  const all = new Map<string, UsedEngine>();
  const current = (): UsedEngine => {
    const { key, make } = active();
    const used = all.get(key) ?? { engine: make(), runs: new Map<string, string>() };
    all.set(key, used);
    used.engine.catch(() => all.delete(key));
    for (const [each, other] of all) {
      if (other !== used && other.runs.size === 0) all.delete(each);
    }
    return used;
  };
  const ownerOf = (name: string): UsedEngine | undefined =>
    [...all.values()].find(({ runs }) => runs.has(name));
  /** Runs of an earlier scheduler belong to the engine that first lists them. */
  const listOf = async ({ engine, runs }: UsedEngine): Promise<readonly PlacedRun[]> => {
    const listed = await (await engine).list();
    for (const { name, instanceId } of listed) {
      if (ownerOf(name) === undefined) runs.set(name, instanceId);
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
      const { engine, runs } = ownerOf(name) ?? current();
      await (await engine).remove(name);
      runs.delete(name);
    },
    list: async () => {
      const newest = current();
      const lists = [...all.values()].map((used) =>
        listOf(used).catch((error: unknown) => {
          if (used === newest) throw error;
          return unknownRuns(used, reasonOf(error));
        }),
      );
      return (await Promise.all(lists)).flat();
    },
  };
}

/** The runs of an earlier engine that is away: runs of the active one don't wait for it. */
function unknownRuns({ runs }: UsedEngine, problem: string): readonly PlacedRun[] {
  const unknown = { state: "waiting", node: null, problem, endings: 0 } as const;
  return [...runs].map(([name, instanceId]) => ({ name, instanceId, ...unknown }));
}
