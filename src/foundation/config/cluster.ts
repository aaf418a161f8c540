import { z } from "zod";
import { placeForms, placeProblem, clusterEngines, type ClusterConfig } from "./cluster-place.ts";
import type { Diagnostics } from "./validate.ts";
import { describeKeys, formatNames } from "./format-value.ts";
import { integer, list, memorySize, pattern, processors, table, text } from "./fields.ts";

const hostAndPort = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?):(\d{1,5})$/;

function endpoint(example: string) {
  const expected = `a host name or address and a port, e.g. "${example}"`;
  return pattern(hostAndPort, expected).refine((given) => isPort(portOf(given)), {
    error: expected,
  });
}

/** Where agents' runs may be placed, in the words of the engine. */
export function places() {
  return list(text(), `a list of rules, e.g. ["${placeForms.swarm.example}"] of a Swarm`);
}

const subnetError = 'a network of IPv4 addresses from /8 to /28, e.g. "10.213.0.0/16"';
const namespaceError = 'the name of a namespace, e.g. "agents"';
const registryPattern = /^[a-z0-9][a-z0-9.-]*(?::\d{1,5})?(?:\/[a-z0-9][a-z0-9._-]*)*$/;
const registryError = 'a registry with a path, without a tag, e.g. "registry.example.com/team"';

const insteadOfDocker = '; run docker swarm init on its machine, and write "swarm"';

/** The project's `[cluster]`. */
export const clusterSchema = table({
  engine: z
    .enum(clusterEngines, {
      error: ({ input }) =>
        `one of ${formatNames(clusterEngines)}${input === "docker" ? insteadOfDocker : ""}`,
    })
    .describe(
      'Which cluster to use: the Swarm whose manager answers at DOCKER_HOST ("swarm"), or the cluster of the current kubeconfig ("kubernetes").',
    ),
  address: endpoint("10.0.0.5:8443").describe(
    "The address at which the cluster's machines reach this scheduler. Runs connect to it with TLS.",
  ),
  listen: endpoint("0.0.0.0:8443").optional().meta({
    description: "Where the scheduler listens for runs.",
    fallback: "the port of `address`, on all IPv4 addresses",
  }),
  image: text("the name of an image").optional().meta({
    description: "Image for all runs in the cluster, built FROM al-agent:latest.",
    fallback: "built by the engine at DOCKER_HOST, or by this machine's engine",
  }),
  registry: pattern(registryPattern, registryError).optional().meta({
    description: "Registry that built images are pushed to, and that the machines pull them from.",
    fallback: "none; the machines must have the images already",
  }),
  lease: integer("seconds", 10, 86_400)
    .default(90)
    .describe(
      "How long a run may be unable to reach the scheduler before the run is lost and its work is retried once. The run ends itself before that.",
    ),
  startTimeout: integer("seconds", 10, 86_400)
    .default(600)
    .describe("How long a run may wait for a machine and its image."),
  place: places()
    .default([])
    .describe(
      'Where runs may be placed: Swarm constraints ("node.labels.agents==yes") or Kubernetes node labels ("agents=yes"). All of them must match.',
    ),
  reserveMemory: memorySize().default("256m").describe("Memory reserved for each run."),
  reserveCpus: processors().default(0.1).describe("CPUs reserved for each run."),
  namespace: pattern(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, namespaceError)
    .optional()
    .meta({
      description: "Kubernetes namespace for Jobs.",
      fallback: "the namespace of the kubeconfig's context",
    }),
  subnet: pattern(/^(?:\d{1,3}\.){3}\d{1,3}\/(?:[89]|1\d|2[0-8])$/, subnetError)
    .refine((given) => z.cidrv4().safeParse(given).success, { error: subnetError })
    .default("10.213.0.0/16")
    .describe("Subnet of the Swarm network for runs with a restricted network."),
});
type ClusterTable = z.output<typeof clusterSchema>;

/** Null without the table. */
export function resolveCluster(given: ClusterTable | undefined): ClusterConfig | null {
  if (given === undefined) return null;
  const { address, image, registry, lease, startTimeout, namespace, ...rest } = given;
  const { reserveMemory, reserveCpus, listen, ...same } = rest;
  return {
    ...same,
    address,
    listen: listen ?? `0.0.0.0:${portOf(address)}`,
    image: image ?? null,
    registry: registry ?? null,
    leaseSeconds: lease,
    startTimeoutSeconds: startTimeout,
    reserve: { memory: reserveMemory, cpus: reserveCpus },
    namespace: namespace ?? null,
  };
}

/** Reports rules that the engine can't follow, and warns of keys that have no effect with it. */
export function checkCluster(given: ClusterTable | undefined, diagnostics: Diagnostics): void {
  if (given === undefined) return;
  const { engine, image, registry, namespace, place } = given;
  for (const [index, rule] of place.entries()) {
    const problem = placeProblem(engine, rule);
    if (problem !== null) diagnostics.error(["cluster", "place", index], `cluster.${problem}`);
  }
  const warn = (key: string, why: string): void =>
    diagnostics.warn(["cluster", key], `cluster.${key} has no effect ${why}; leave it out`);
  if (image !== undefined && registry !== undefined) {
    warn("registry", "beside cluster.image: no image is built");
  }
  if (namespace !== undefined && engine !== "kubernetes") {
    warn("namespace", `with the engine ${engine}`);
  }
}

/** The differences between two clusters, by the file's keys. */
export function describeClusters(
  before: ClusterConfig | null,
  after: ClusterConfig | null,
): string {
  if (before === null || after === null) return `[cluster] ${before ? "removed" : "added"}`;
  return describeKeys("cluster", writtenCluster(before), writtenCluster(after));
}

/** The cluster under the file's keys. */
export function writtenCluster({
  leaseSeconds,
  startTimeoutSeconds,
  reserve,
  ...rest
}: ClusterConfig) {
  const times = { lease: leaseSeconds, startTimeout: startTimeoutSeconds };
  return { ...rest, ...times, reserveMemory: reserve.memory, reserveCpus: reserve.cpus };
}

function portOf(given: string): number {
  return Number(hostAndPort.exec(given)?.[1]);
}

function isPort(port: number): boolean {
  return port >= 1 && port <= 65_535;
}
