import { createHmac, randomUUID } from "node:crypto";
import { asyncScheduler, distinctUntilChanged, map, NEVER, switchMap, type Observable } from "rxjs";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { BuildEvent } from "../../../streams/vocabulary.ts";
import type { ClusterConfig } from "../../foundation/config/cluster-place.ts";
import type { ClusterEngine } from "./cluster-engine.ts";
import { createChangingEngine, type ActiveEngine } from "./changing-engine.ts";
import type { ClusterRunnerOptions } from "./cluster-runner-options.ts";
import { createClusterRunner } from "./cluster-runner.ts";
import { createClusterImages } from "./images/cluster-images.ts";
import { registryLogin } from "./images/registry-login.ts";
import { engineChanges } from "../runners/container/engine-changes.ts";
import { connectEngine } from "../runners/container/engine.ts";
import { createAgentImages } from "../runners/container/images.ts";
import { keepReady } from "../runners/container/keep-ready.ts";
import type { FindRun } from "../runs/live-runs.ts";
import { programDir } from "../../foundation/version.ts";
import type { SchedulerContext } from "../../foundation/context.ts";
import type { ProjectConfig } from "../../foundation/config/project-config.ts";
import { Problem } from "../../foundation/errors.ts";
import type { SwarmOptions } from "./swarm/ensure-relay.ts";
import type { ClusterDoor } from "./door/cluster-door.ts";

export type ClusterSources = Pick<
  ClusterRunnerOptions,
  "prepare" | "redactorFor" | "onCooldown" | "graceMs" | "records"
>;

export interface ClusterPorts {
  readonly runs: FindRun;
  readonly door: Pick<ClusterDoor, "open" | "certificate">;
  /** Replaces the engine of `[cluster]`; null for that one. */
  readonly clusterEngine: ClusterEngine | null;
}

export type Cluster = ReturnType<typeof createCluster>;

/** The runtime of `[cluster]` of one scheduler: engine, images and runner, by the active config. */
export function createCluster(
  { projectDir, env, project$, store, logWriter }: SchedulerContext,
  { runs, door, clusterEngine }: ClusterPorts,
  sources: ClusterSources,
) {
  const active = latestCluster(project$);
  const local = (): ProjectConfig["local"] => project$.value.local;
  const docker = connectEngine({ env });
  const loginFor: EngineSources["loginFor"] = (image) => registryLogin(image, env);
  const built = createAgentImages({ engine: docker, projectDir, programDir: programDir(), local });
  const images = createClusterImages({
    engine: docker,
    images: built,
    cluster: () => active() ?? noCluster,
    loginFor,
  });
  const engineSources: EngineSources = {
    engine: docker,
    project: () => nameFrom(store.settings.maskKey()),
    programImage: () => images.programImage(),
    loginFor,
  };
  const engine = createChangingEngine(() =>
    clusterEngine === null
      ? activeEngine(active(), engineSources)
      : { key: "", make: () => Promise.resolve(clusterEngine) },
  );
  const runner = createClusterRunner({
    ...sources,
    projectDir,
    engine,
    // If `[cluster]` was added after the start, the first run opens the door.
    prepare: (request, workDir) => door.open().then(() => sources.prepare(request, workDir)),
    imageFor: (agent) => images.imageFor(agent),
    cluster: () => active() ?? noCluster,
    local,
    certificate: () => door.certificate(),
    flushLogs: () => logWriter.flush(),
    recorded: () => store.work.record(() => undefined),
    scheduler: randomUUID(),
    pauseClock: (instanceId) => runs.find(instanceId)?.clock.pause() ?? (() => undefined),
    onClaim: (instanceId, node) => runs.find(instanceId)?.note(`runs on ${node}`, { node }),
  });
  const change$ = engineChanges(docker);
  return {
    runner,
    /** Keeps the agent's image ready, even if the config changes its place. Ends only with its subscriber. */
    prepare: (agent: AgentConfig): Observable<BuildEvent> =>
      project$.pipe(
        map(({ local: { image, base } }) =>
          JSON.stringify([image, base, active()?.image, active()?.registry]),
        ),
        distinctUntilChanged(),
        switchMap(() => {
          // A configured image is not on this machine's engine, so the engine's changes don't matter.
          const watched$ = active()?.image == null ? change$ : NEVER;
          return keepReady(() => images.prepare(agent), watched$, asyncScheduler);
        }),
      ),
  };
}

/** The latest `[cluster]`: runs outlive its removal. Null if the project never had one. */
function latestCluster(project$: SchedulerContext["project$"]): () => ClusterConfig | null {
  let latest = project$.value.cluster;
  return () => (latest = project$.value.cluster ?? latest);
}

/** For runs of an earlier scheduler that had the table. */
const noCluster = {
  address: "",
  leaseSeconds: 90,
  startTimeoutSeconds: 600,
  reserve: { memory: "256m", cpus: 0.1 },
  place: [],
  image: null,
  registry: null,
} as const;

function nameFrom(secret: string): string {
  return createHmac("sha256", secret).update("cluster").digest("hex").slice(0, 16);
}

type EngineSources = Omit<SwarmOptions, "config" | "project"> & { readonly project: () => string };

/** Loads the code of the engine and creates it. */
async function makeEngine(config: ClusterConfig, sources: EngineSources): Promise<ClusterEngine> {
  const options = { ...sources, project: sources.project(), config };
  switch (config.engine) {
    case "swarm":
      return (await import("./swarm/swarm-engine.ts")).createSwarmEngine(options);
    case "kubernetes":
      return (await import("./kubernetes/kubernetes-engine.ts")).createKubernetesEngine(options);
  }
}

/** The engine of the active config. Throws a Problem without one. */
function activeEngine(config: ClusterConfig | null, sources: EngineSources): ActiveEngine {
  if (config === null) {
    throw new Problem(
      "no_cluster",
      "config.toml no longer has [cluster]",
      "add it again until the cluster's runs have ended",
    );
  }
  const { engine, address, namespace, subnet } = config;
  return {
    key: JSON.stringify([engine, address, namespace, subnet]),
    make: () => makeEngine(config, sources),
  };
}
