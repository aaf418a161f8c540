import type { ClusterEngine, Launch, PlacedRun } from "../../src/runtime/cluster/cluster-engine.ts";

/** A process of a run, wherever it is. */
export interface EngineProcess {
  /** Resolves to its exit code once nothing of it is left. */
  readonly ended: Promise<number | null>;
  /** Ends it at once, with all it started. */
  readonly kill: () => void;
}

interface Placed {
  readonly launch: Launch;
  readonly process: EngineProcess | null;
  exitCode: number | null;
  isOver: boolean;
}

/** An engine whose only machine is this one: each run is what `start` makes of its launch, null for one that waits. */
export function processEngine(start: (launch: Launch) => EngineProcess | null) {
  const runs = new Map<string, Placed>();
  const pretended = new Map<string, Partial<PlacedRun>>();
  let away: Error | null = null;
  let lists = 0;
  const here = (): Promise<void> => (away === null ? Promise.resolve() : Promise.reject(away));
  const end = async (name: string): Promise<void> => {
    const placed = runs.get(name);
    placed?.process?.kill();
    await placed?.process?.ended;
  };
  const engine: ClusterEngine = {
    ready: here,
    start: async (launch) => {
      await here();
      const process = start(launch);
      const placed: Placed = { launch, process, exitCode: null, isOver: false };
      runs.set(launch.name, placed);
      void process?.ended.then((exitCode) => Object.assign(placed, { exitCode, isOver: true }));
    },
    remove: async (name) => {
      await here();
      await end(name);
      runs.delete(name);
    },
    list: async () => {
      lists += 1;
      await here();
      return [...runs.values()].map((run) => ({
        ...placedRun(run),
        ...pretended.get(run.launch.name),
      }));
    },
  };
  return {
    ...engine,
    /** Rejects everything with this from now on; null to answer again. */
    goAway: (error: Error | null) => void (away = error),
    /** What `list` has for a run, instead of what it is. */
    pretend: (name: string, report: Partial<PlacedRun>) => void pretended.set(name, report),
    /** How often it was asked for its runs. */
    lists: () => lists,
    /** Names of the runs that it has. */
    names: () => [...runs.keys()],
  };
}

export type ProcessEngine = ReturnType<typeof processEngine>;

function placedRun({ launch, process, exitCode, isOver }: Placed): PlacedRun {
  const { name, instanceId } = launch;
  const state = process === null ? "waiting" : isOver ? "ended" : "running";
  return {
    name,
    instanceId,
    state,
    node: process === null ? null : "here",
    problem: isOver ? `the process ended with exit code ${exitCode ?? "none"}` : null,
    endings: isOver ? 1 : 0,
    exitCode,
    outOfMemory: false,
  };
}
