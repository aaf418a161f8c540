import { NEVER } from "rxjs";
import type { RunnerEvent } from "../../../streams/runs/runner.ts";
import type { RunRequest } from "../../../streams/vocabulary.ts";
import type { Launch } from "../../../src/runtime/cluster/cluster-engine.ts";
import type { ClusterRunnerOptions } from "../../../src/runtime/cluster/cluster-runner-options.ts";
import { collected } from "../runners/contract.ts";
import { clusterRig, type ClusterRig } from "../../helpers/cluster-rig.ts";
import { processEngine } from "../../helpers/process-engine.ts";
import type { EngineProcess, ProcessEngine } from "../../helpers/process-engine.ts";
import { remoteRunProcess } from "../../helpers/remote-run-process.ts";

/** A cluster whose only machine is this one, and the schedulers that use it one after another. */
export interface TestCluster extends ClusterRig {
  readonly engine: ProcessEngine;
  /** The runs that its engine was asked to start. */
  readonly launches: readonly Launch[];
  /** Starts the runs that wait. */
  readonly startAll: () => void;
  readonly eventsOf: (
    request: RunRequest,
    options?: Partial<ClusterRunnerOptions>,
  ) => Promise<readonly RunnerEvent[]>;
}

export interface TestClusterOptions {
  /** When runs begin; at once by default. */
  readonly begins?: "later" | "never";
}

export async function openCluster({ begins }: TestClusterOptions = {}): Promise<TestCluster> {
  const launches: Launch[] = [];
  const gate = Promise.withResolvers<null>();
  const engine = processEngine((launch) => {
    launches.push(launch);
    // The script of the scenario that can't be started.
    if (launch.command.at(-1) === "") throw new Error("no machine takes it");
    if (begins === "never") return null;
    return begins === "later" ? later(launch, gate.promise) : remoteRunProcess(launch);
  });
  const rig = await clusterRig({ engine });
  return {
    ...rig,
    engine,
    launches,
    startAll: () => gate.resolve(null),
    eventsOf: async (request, options) => {
      const runner = await rig.start(options);
      return collected(runner.run(request, NEVER));
    },
    dispose: async () => {
      await Promise.all(engine.names().map((name) => engine.remove(name)));
      await rig.dispose();
    },
  };
}

/** A cluster that goes with the test. */
export async function aCluster(options: TestClusterOptions = {}): Promise<TestCluster> {
  const cluster = await openCluster(options);
  onTestFinished(cluster.dispose);
  return cluster;
}

function later(launch: Launch, gate: Promise<null>): EngineProcess {
  const started = gate.then(() => remoteRunProcess(launch));
  return {
    ended: started.then(({ ended }) => ended),
    kill: () => void started.then(({ kill }) => kill()),
  };
}
