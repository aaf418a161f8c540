import { runName } from "../../src/runtime/cluster/cluster-engine.ts";
import type { ClusterEngine, Launch, PlacedRun } from "../../src/runtime/cluster/cluster-engine.ts";

export const project = "0123456789abcdef";
export const secretTicket = JSON.stringify({ ticket: "the-secret-ticket" });
export const door = "192.0.2.1:8443";
/** The base image of the tests, by a name that stays. */
export const runImage = "al-test-run:1";

/** A cluster as the tests of the engine use it: a real one, or what was recorded of one. */
export interface KubernetesSide {
  /** An engine of one more scheduler of the project. */
  engine(address?: string): ClusterEngine;
  /** As the administrator; without effect where the cluster was recorded. Returns what it printed. */
  kubectl(...args: readonly string[]): Promise<string>;
  /** Creates or changes objects as the administrator. */
  apply(...objects: readonly object[]): Promise<void>;
  /** Gives the scheduler's user another token, or one that is worth nothing. */
  renewToken(isValid: boolean): void;
  /** So long it waits for the cluster between two looks, in ms. */
  readonly pollMs: number;
}

/** A run that is a shell script. */
export function scriptLaunch(id: string, script: string, over: Partial<Launch> = {}): Launch {
  return {
    name: runName(id),
    instanceId: id,
    agent: "dev",
    volumes: [],
    image: runImage,
    command: ["bash", "-c", script],
    env: { AL_INSTANCE: id },
    ticket: secretTicket,
    limits: { memory: "64m", cpus: 0.5, network: "none" },
    reserve: { memory: "32m", cpus: 0.01 },
    place: [],
    ...over,
  };
}

/** The one run of an engine once it is as it should be. */
export async function runOnce(
  side: KubernetesSide,
  engine: ClusterEngine,
  isRight: (run: PlacedRun | undefined) => boolean,
): Promise<PlacedRun | undefined> {
  let run: PlacedRun | undefined;
  const look = async () => {
    [run] = await engine.list();
    return isRight(run) ? "right" : run;
  };
  await expect.poll(look, { timeout: 60_000, interval: side.pollMs }).toBe("right");
  return run;
}

const id = "dev-20261127-abcdef";

/** Runs of one id on a side, each by an engine of its own. */
export function runsOf(side: () => KubernetesSide) {
  const until = (engine: ClusterEngine, isRight: (run: PlacedRun) => boolean | undefined) =>
    runOnce(side(), engine, (run) => run !== undefined && isRight(run) === true);
  return {
    name: runName(id),
    launch: (script = "sleep 1000", over: Partial<Launch> = {}) => scriptLaunch(id, script, over),
    started: async (script?: string, over: Partial<Launch> = {}): Promise<ClusterEngine> => {
      const engine = side().engine();
      await engine.start(scriptLaunch(id, script ?? "sleep 1000", over));
      return engine;
    },
    until,
    running: (engine: ClusterEngine) => until(engine, ({ state }) => state === "running"),
    ended: (engine: ClusterEngine) => until(engine, ({ state }) => state === "ended"),
    absent: (engine: ClusterEngine) => runOnce(side(), engine, (run) => run === undefined),
    gone: async (engine: ClusterEngine): Promise<void> => {
      await engine.remove(runName(id));
      await runOnce(side(), engine, (run) => run === undefined);
    },
  };
}
