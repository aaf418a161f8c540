import { randomUUID } from "node:crypto";
import { lastValueFrom, NEVER, toArray, type Observable } from "rxjs";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { RunnerEvent, StopReason } from "../../../streams/runs/runner.ts";
import type { RunRequest } from "../../../streams/vocabulary.ts";
import type { Launch } from "../../../src/runtime/cluster/cluster-engine.ts";
import type { ClusterRunnerOptions } from "../../../src/runtime/cluster/cluster-runner-options.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { clusterRig, type ClusterRig } from "../../helpers/cluster-rig.ts";
import { processEngine } from "../../helpers/process-engine.ts";
import type { EngineProcess, ProcessEngine } from "../../helpers/process-engine.ts";
import { remoteRunProcess } from "../../helpers/remote-run-process.ts";

/** The title of the agent is the script, or the scenario whose script it is. */
export function aRequest(title: string, config: Partial<AgentConfig> = {}): RunRequest {
  const instanceId = `dev-${randomUUID().slice(0, 8)}`;
  return { instanceId, agent: anAgent("dev", { title, ...config }), item: anItem("1") };
}

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
    stop$?: Observable<StopReason>,
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
    eventsOf: async (request, options, stop$ = NEVER) => {
      const runner = await rig.start(options);
      return lastValueFrom(runner.run(request, stop$).pipe(toArray()));
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
