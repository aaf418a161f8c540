import type { Pod, PodSpec } from "./wire-types.ts";

export interface NodeSpec {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** In thousandths of a processor. */
  readonly milliCpus?: number;
  readonly memoryBytes?: number;
}

/** A machine of the cluster, as its scheduler sees it. */
export interface Node extends NodeSpec {
  /** New pods may be placed on it. */
  isSchedulable: boolean;
  /** It answers: nothing that happens on one that does not is seen by the server. */
  isReady: boolean;
}

/** The first node with room for a pod that has its labels; else why there is none. */
export function placePod(
  spec: PodSpec,
  nodes: readonly Node[],
  pods: readonly Pod[],
): { readonly node: string } | { readonly message: string } {
  const reasons = nodes.map((node) => ({ node, reason: unfit(spec, node, pods) }));
  const fit = reasons.filter(({ reason }) => reason === null);
  // The emptiest first, as the cluster's own scheduler prefers it.
  const counts = new Map(nodes.map(({ name }) => [name, podsOn(name, pods).length]));
  fit.sort((a, b) => (counts.get(a.node.name) ?? 0) - (counts.get(b.node.name) ?? 0));
  const [first] = fit;
  if (first !== undefined) return { node: first.node.name };
  const words = reasons.map(({ reason }) => `1 ${reason ?? ""}`).join(", ");
  return { message: `0/${nodes.length} nodes are available: ${words}.` };
}

function unfit(spec: PodSpec, node: Node, pods: readonly Pod[]): string | null {
  if (!node.isReady) return "node(s) had untolerated taint(s)";
  if (!node.isSchedulable) return "node(s) were unschedulable";
  const selector = Object.entries(spec.nodeSelector ?? {});
  if (!selector.every(([key, value]) => node.labels?.[key] === value))
    return "node(s) didn't match Pod's node affinity/selector";
  const all = [spec, ...podsOn(node.name, pods).map((pod) => pod.spec)];
  const asks = (resource: string) => all.reduce((sum, each) => sum + request(each, resource), 0);
  if (asks("memory") > (node.memoryBytes ?? Infinity)) return "Insufficient memory";
  if (asks("cpu") * 1_000 > (node.milliCpus ?? Infinity)) return "Insufficient cpu";
  return null;
}

function podsOn(node: string, pods: readonly Pod[]): readonly Pod[] {
  return pods.filter(
    ({ spec, status }) =>
      spec.nodeName === node && (status.phase === "Pending" || status.phase === "Running"),
  );
}

function request({ containers }: PodSpec, resource: string): number {
  return containers.reduce(
    (sum, { resources }) => sum + quantity(resources?.requests?.[resource] ?? "0"),
    0,
  );
}

/** `500m` and plain numbers, which are all that is asked for here. */
function quantity(text: string): number {
  const [, number = "", unit] = /^(\d+)(m?)$/.exec(text) ?? [];
  if (number === "") throw new Error(`${text} is no quantity that the small cluster knows`);
  return Number(number) / (unit === "m" ? 1_000 : 1);
}
