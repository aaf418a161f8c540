import type { AuthConfig } from "dockerode";
import type { ClusterConfig, ClusterEngineName } from "../foundation/contracts/cluster.ts";
import { UserError } from "../foundation/errors.ts";
import type { ActiveEngine, ClosableEngine } from "../runtime/cluster/changing-engine.ts";
import type { Engine } from "../runtime/runners/container/engine.ts";

export interface EngineSources {
  /** The container engine at `DOCKER_HOST`. */
  readonly engine: Engine;
  /** Tells this project from others, also of other machines: 16 hex digits. */
  readonly project: () => string;
  /** Name of an image that has the program. */
  readonly programImage: () => Promise<string>;
  readonly loginFor: (image: string) => Promise<AuthConfig | undefined>;
}

type Make = (config: ClusterConfig, sources: EngineSources) => Promise<ClosableEngine>;

/** Each is loaded when it is needed. */
const engines: Readonly<Record<ClusterEngineName, Make>> = {
  docker: async (config, sources) => {
    const edge = await import("../runtime/cluster/docker/docker-engine.ts");
    return edge.createDockerEngine({ ...sources, project: sources.project(), config });
  },
  swarm: async (config, sources) => {
    const edge = await import("../runtime/cluster/swarm/swarm-engine.ts");
    return edge.createSwarmEngine({ ...sources, project: sources.project(), config });
  },
  kubernetes: async (config, { project }) => {
    const edge = await import("../runtime/cluster/kubernetes/kubernetes-engine.ts");
    return edge.createKubernetesEngine({ config, project: project() });
  },
};

/** The engine of the active config. Throws a UserError without one. */
export function activeEngine(config: ClusterConfig | null, sources: EngineSources): ActiveEngine {
  if (config === null) {
    throw new UserError("no_cluster", "config.toml has no [cluster] any more", {
      hint: "add it again, until the runs of the cluster are over",
    });
  }
  const { engine, address, namespace, subnet } = config;
  return {
    key: JSON.stringify([engine, address, namespace, subnet]),
    make: () => engines[engine](config, sources),
  };
}
