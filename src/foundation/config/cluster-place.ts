import { formatValue } from "./format-value.ts";

/** The rules about machines that each engine accepts. */
export const placeForms = {
  swarm: {
    pattern: /^(?:node|engine)\.[\w.-]+\s*(?:==|!=)\s*\S+$/,
    form: "a constraint of a Swarm",
    example: "node.labels.agents==yes",
  },
  kubernetes: {
    pattern: /^(?:[a-z0-9.-]+\/)?[A-Za-z0-9][\w.-]{0,62}=[\w.-]{0,63}$/,
    form: "a label of Kubernetes' nodes",
    example: "agents=yes",
  },
} as const;

/** Why the engine can't place runs by this rule; null when it can. */
export function placeProblem(engine: ClusterEngineName, rule: string): string | null {
  const { pattern, form, example } = placeForms[engine];
  if (pattern.test(rule)) return null;
  return `place has ${formatValue(rule)}; expected ${form}, e.g. ${formatValue(example)}`;
}

/** Where runs of the runtime `cluster` are started: the project's `[cluster]`. */
export const clusterEngines = ["swarm", "kubernetes"] as const;
export type ClusterEngineName = (typeof clusterEngines)[number];

export interface ClusterConfig {
  readonly engine: ClusterEngineName;
  /** `host:port` by which other machines reach the scheduler's door. */
  readonly address: string;
  /** `host:port` at which the door listens. */
  readonly listen: string;
  /** Name of an image with the program, instead of a built one; null for none. */
  readonly image: string | null;
  /** Prefix of the names under which built images are pushed, such as `registry.example.com/team`; null for no push. */
  readonly registry: string | null;
  /** A run that is silent for this long is lost. */
  readonly leaseSeconds: number;
  /** How long a run may wait for a machine. */
  readonly startTimeoutSeconds: number;
  /** Where runs may be placed: Swarm's constraints, or `key=value` of Kubernetes' node labels. */
  readonly place: readonly string[];
  /** Resources reserved for a run; its limits are those of `[local]`. */
  readonly reserve: { readonly memory: string; readonly cpus: number };
  /** Kubernetes: null for the namespace of the kubeconfig's context. */
  readonly namespace: string | null;
  /** Swarm: the addresses of the network that closed runs are in, as CIDR. */
  readonly subnet: string;
}
