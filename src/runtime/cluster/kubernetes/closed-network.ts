import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type {
  V1NetworkPolicy,
  V1NetworkPolicyPeer,
  V1NetworkPolicySpec,
} from "@kubernetes/client-node";
import { messageOf, Problem } from "../../../foundation/errors.ts";
import type { KubeClient } from "./kube-client.ts";
import { hostAndPortOf } from "../host-and-port.ts";
import { statusOf } from "./kube-errors.ts";
import { closedLabel, projectLabel, type RunPlace } from "./run-manifests.ts";

export interface Door {
  readonly host: string;
  readonly port: number;
  /** The addresses that the host's name resolves to. */
  readonly ips: readonly string[];
}

/** The door as this machine resolves it: nodes and policies use addresses, not names. */
export async function findDoor(address: string): Promise<Door> {
  const { host, port } = hostAndPortOf(address);
  if (isIP(host) !== 0) return { host, port, ips: [host] };
  try {
    const found = await lookup(host, { all: true });
    return { host, port, ips: found.map((entry) => entry.address).sort() };
  } catch (error) {
    throw new Problem(
      "engine_refused",
      `[cluster] address = "${address}": ${messageOf(error)}, so no run would find the scheduler`,
      { hint: "write an IP address, or a name that resolves on this machine", cause: error },
    );
  }
}

/** Names for closed runs, which have no DNS. */
export function hostsOf({ host, ips }: Door): RunPlace["hosts"] {
  return isIP(host) === 0 ? ips.map((ip) => ({ ip, hostnames: [host] })) : [];
}

/** Pods of the namespace with this label are the door of a scheduler that runs in the cluster, behind a Service. */
const doorPods: V1NetworkPolicyPeer = { podSelector: { matchLabels: { "al.door": "yes" } } };

/** The policy of a project's closed runs: no ingress, and egress to the door alone. A Service's address is never seen by it. */
export function closedPolicy(project: string, door: Door): V1NetworkPolicy {
  const ips = door.ips.map((ip) => ({ ipBlock: { cidr: `${ip}/${isIP(ip) === 6 ? 128 : 32}` } }));
  const to = [...ips, doorPods];
  const spec: V1NetworkPolicySpec = {
    podSelector: { matchLabels: { [closedLabel]: project } },
    policyTypes: ["Ingress", "Egress"],
    ingress: [],
    egress: [{ to, ports: [{ protocol: "TCP", port: door.port }] }],
  };
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name: `al-closed-${project}`, labels: { [projectLabel]: project } },
    spec,
  };
}

/** Creates the policy, or replaces an existing one. */
export async function ensurePolicy(
  { networking, namespace }: KubeClient,
  body: V1NetworkPolicy,
): Promise<void> {
  try {
    await networking.createNamespacedNetworkPolicy({ namespace, body });
  } catch (error) {
    if (statusOf(error) !== 409) throw error;
    const name = body.metadata?.name ?? "";
    await networking.replaceNamespacedNetworkPolicy({ name, namespace, body });
  }
}
