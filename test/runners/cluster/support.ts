import { randomUUID } from "node:crypto";
import { lastValueFrom, NEVER, toArray } from "rxjs";
import type { Observable } from "rxjs";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { RunnerEvent, StopReason } from "../../../streams/runs/runner.ts";
import type { RunRequest } from "../../../streams/vocabulary.ts";
import type { RemoteRuns } from "../../../src/contracts/remote-run.ts";
import type {
  ClusterRecord,
  ClusterRecords,
} from "../../../src/runners/cluster/cluster-records.ts";
import type { Launch } from "../../../src/runners/cluster/cluster-engine.ts";
import type {
  ClusterRunConfig,
  ClusterRunnerOptions,
} from "../../../src/runners/cluster/cluster-runner-options.ts";
import { createClusterRunner } from "../../../src/runners/cluster/cluster-runner.ts";
import type { ClusterRunner } from "../../../src/runners/cluster/cluster-runner.ts";
import { contractGraceMs } from "../../contracts/scenarios.ts";
import { anAgent, anItem } from "../../helpers/agents.ts";
import { processEngine } from "../../helpers/process-engine.ts";
import type { ProcessEngine } from "../../helpers/process-engine.ts";
import { jobOf, scriptOf } from "../shell-runs.ts";
import { standInRun } from "./stand-in.ts";

/** The title of the agent is the script, or the scenario whose script it is. */
export function aRequest(title: string, config: Partial<AgentConfig> = {}): RunRequest {
  const instanceId = `dev-${randomUUID().slice(0, 8)}`;
  return { instanceId, agent: anAgent("dev", { title, ...config }), item: anItem("1") };
}

/** Records that go with the test. */
export function memoryRecords(): ClusterRecords {
  const records = new Map<string, string>();
  return {
    write: (id, record) => {
      records.set(id, JSON.stringify(record));
      return Promise.resolve();
    },
    read: (id) => {
      const record = records.get(id);
      return Promise.resolve(record === undefined ? null : (JSON.parse(record) as ClusterRecord));
    },
    remove: (id) => {
      records.delete(id);
      return Promise.resolve();
    },
    list: () => Promise.resolve([...records.keys()]),
  };
}

/** A cluster of this machine alone, and the schedulers that use it one after another. */
export interface TestCluster {
  readonly engine: ProcessEngine;
  readonly records: ClusterRecords;
  /** What its engine was asked to start. */
  readonly launches: readonly Launch[];
  /** Options with this in `[cluster]`. */
  readonly configured: (cluster: Partial<ClusterRunConfig>) => Partial<ClusterRunnerOptions>;
  /** The next scheduler; requests go to it from now on. */
  readonly scheduler: (options?: Partial<ClusterRunnerOptions>) => ClusterRunner;
  /** No scheduler answers from now on. */
  readonly noScheduler: () => void;
  readonly eventsOf: (
    request: RunRequest,
    options?: Partial<ClusterRunnerOptions>,
    stop$?: Observable<StopReason>,
  ) => Promise<readonly RunnerEvent[]>;
}

export function aCluster(given: { readonly waits?: boolean } = {}): TestCluster {
  let requests: RemoteRuns | null = null;
  const current = (): RemoteRuns => {
    if (requests === null) throw new Error("no answer");
    return requests;
  };
  const launches: Launch[] = [];
  const engine = processEngine((launch) => {
    launches.push(launch);
    return given.waits === true ? null : standInRun(launch, current);
  });
  const records = memoryRecords();
  const scheduler: TestCluster["scheduler"] = (options = {}) => {
    const runner = createClusterRunner({ ...usual(engine, records), ...options });
    requests = runner.remoteRuns;
    return runner;
  };
  return {
    engine,
    records,
    launches,
    configured: (cluster) => ({ cluster: () => ({ ...clusterConfig, ...cluster }) }),
    scheduler,
    noScheduler: () => (requests = null),
    eventsOf: (request, options, stop$ = NEVER) =>
      lastValueFrom(scheduler(options).run(request, stop$).pipe(toArray())),
  };
}

const clusterConfig: ClusterRunConfig = {
  address: "scheduler.example:7000",
  leaseSeconds: 90,
  startTimeoutSeconds: 600,
  reserve: { memory: "256m", cpus: 0.1 },
  place: ["node.labels.zone==a"],
};

function usual(engine: ProcessEngine, records: ClusterRecords): ClusterRunnerOptions {
  return {
    engine,
    records,
    imageFor: () => Promise.resolve("some-image"),
    cluster: () => clusterConfig,
    local: () => ({ memory: "128m", cpus: 1, network: "none" }),
    certificate: () => "-----BEGIN CERTIFICATE-----",
    flushLogs: () => Promise.resolve(true),
    scheduler: randomUUID(),
    projectDir: "/projects/one",
    graceMs: contractGraceMs,
    onCooldown: () => undefined,
    redactorFor: () => (text) => text.replaceAll("s3cret", "***"),
    prepare: (request, workDir) =>
      Promise.resolve({
        ...jobOf(request, workDir),
        channel: { socket: "/run/al/channel.sock", token: "the-ticket" },
      }),
    command: ({ agent: { title } }) => ["/bin/sh", "-c", scriptOf(title)],
    pollMs: 50,
  };
}
