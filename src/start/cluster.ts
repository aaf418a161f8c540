import { createHmac, randomUUID } from "node:crypto";
import { asyncScheduler, distinctUntilChanged, map, NEVER, switchMap } from "rxjs";
import type { Observable } from "rxjs";
import type { AgentConfig } from "../../streams/agent-config.ts";
import type { BuildEvent } from "../../streams/vocabulary.ts";
import type { ProjectConfig } from "../foundation/config/project-config.ts";
import type { ClusterConfig } from "../foundation/contracts/cluster.ts";
import type { ClusterEngine } from "../runtime/cluster/cluster-engine.ts";
import { createChangingEngine } from "../runtime/cluster/changing-engine.ts";
import type { ClusterRunnerOptions } from "../runtime/cluster/cluster-runner-options.ts";
import { createClusterRunner } from "../runtime/cluster/cluster-runner.ts";
import type { ClusterRunner } from "../runtime/cluster/cluster-runner.ts";
import { createClusterImages } from "../runtime/cluster/images/cluster-images.ts";
import { registryLogin } from "../runtime/cluster/images/registry-login.ts";
import { engineChanges } from "../runtime/runners/container/engine-changes.ts";
import { connectEngine } from "../runtime/runners/container/engine.ts";
import { createAgentImages } from "../runtime/runners/container/images.ts";
import { keepReady } from "../runtime/runners/container/keep-ready.ts";
import type { LiveRuns } from "../runtime/runs/live-runs.ts";
import { programDir } from "../foundation/version.ts";
import type { ProjectHandle } from "./acquire-project.ts";
import { activeEngine } from "./cluster-engines.ts";
import type { EngineSources } from "./cluster-engines.ts";
import type { ContainerContext } from "./containers.ts";
import type { ClusterDoor } from "./door.ts";

export type ClusterSources = Pick<
  ClusterRunnerOptions,
  "prepare" | "redactorFor" | "onCooldown" | "graceMs" | "records"
>;

export interface ClusterContext extends ContainerContext {
  readonly own: Pick<ProjectHandle, "store">;
  readonly runs: Pick<LiveRuns, "find">;
  readonly door: Pick<ClusterDoor, "open" | "certificate">;
  /** Instead of the engine of `[cluster]`; null for that one. */
  readonly clusterEngine: ClusterEngine | null;
  /** Writes all log lines so far; whether they are in the files. */
  readonly flushLogs: () => Promise<boolean>;
}

/** The runtime of `[cluster]` of one scheduler. */
export interface Cluster {
  readonly runner: ClusterRunner;
  /** Keeps the agent's image ready: anew when the config names another place for it. Ends only with its subscriber. */
  prepare(config: AgentConfig): Observable<BuildEvent>;
  close(): void;
}

/** Engine, images and runner, by the active `[cluster]`. */
export function createCluster(context: ClusterContext, sources: ClusterSources): Cluster {
  const { projectDir, env, project$, own, runs, door, flushLogs } = context;
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
    project: () => nameFrom(own.store.settings.maskKey()),
    programImage: () => images.programImage(),
    loginFor,
  };
  const { clusterEngine } = context;
  const engine = createChangingEngine(() =>
    clusterEngine === null
      ? activeEngine(active(), engineSources)
      : { key: "", make: () => Promise.resolve(clusterEngine) },
  );
  const runner = createClusterRunner({
    ...sources,
    projectDir,
    engine,
    // Where `[cluster]` came after the start, the first run opens the door.
    prepare: (request, workDir) => door.open().then(() => sources.prepare(request, workDir)),
    imageFor: (agent) => images.imageFor(agent),
    cluster: () => active() ?? noCluster,
    local,
    certificate: () => door.certificate(),
    flushLogs,
    recorded: () => own.store.work.record(() => undefined),
    scheduler: randomUUID(),
    pauseClock: (instanceId) => runs.find(instanceId)?.clock.pause() ?? (() => undefined),
    onClaim: (instanceId, node) => runs.find(instanceId)?.note(`runs on ${node}`, { node }),
  });
  const change$ = engineChanges(docker);
  return {
    runner,
    prepare: (agent) =>
      project$.pipe(
        map(({ local: { image, base } }) =>
          JSON.stringify([image, base, active()?.image, active()?.registry]),
        ),
        distinctUntilChanged(),
        switchMap(() => {
          // An image that is given is no affair of this machine's engine.
          const watched$ = active()?.image == null ? change$ : NEVER;
          return keepReady(() => images.prepare(agent), watched$, asyncScheduler);
        }),
      ),
    close: () => engine.close(),
  };
}

/** The table that counts, also for runs that live after it was removed; null when it never was there. */
function latestCluster(project$: ClusterContext["project$"]): () => ClusterConfig | null {
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
