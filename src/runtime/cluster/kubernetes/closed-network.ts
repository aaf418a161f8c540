import { createHash } from "node:crypto";
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { V1NetworkPolicy, V1NetworkPolicySpec } from "@kubernetes/client-node";
import { messageOf, UserError } from "../../../foundation/errors.ts";
import type { KubeClient } from "./kube-client.ts";
import { ifStatus, statusOf } from "./kube-errors.ts";
import { closedLabel, projectLabel } from "./run-labels.ts";
import type { RunPlace } from "./run-manifests.ts";

export interface Door {
  readonly host: string;
  readonly port: number;
  /** What the host's name stands for. */
  readonly ips: readonly string[];
}

/** The door as this machine finds it: nodes and policies know addresses, no names. */
export async function findDoor(address: string): Promise<Door> {
  const at = address.lastIndexOf(":");
  const host = address.slice(0, at).replace(/^\[(.*)\]$/, "$1");
  const port = Number(address.slice(at + 1));
  if (isIP(host) !== 0) return { host, port, ips: [host] };
  try {
    const found = await lookup(host, { all: true });
    return { host, port, ips: found.map((entry) => entry.address).sort() };
  } catch (error) {
    throw new UserError(
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

const specAnnotation = "al.spec";

function closedPolicyName(project: string): string {
  return `al-closed-${project}`;
}

/** The policy of a project's closed runs: no ingress, and egress to the door alone. */
export function closedPolicy(project: string, door: Door): V1NetworkPolicy {
  const to = door.ips.map((ip) => ({ ipBlock: { cidr: `${ip}/${isIP(ip) === 6 ? 128 : 32}` } }));
  const spec: V1NetworkPolicySpec = {
    podSelector: { matchLabels: { [closedLabel]: project } },
    policyTypes: ["Ingress", "Egress"],
    ingress: [],
    egress: [{ to, ports: [{ protocol: "TCP", port: door.port }] }],
  };
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: {
      name: closedPolicyName(project),
      labels: { [projectLabel]: project },
      // The server adds defaults to a spec, so what was asked for is compared by this.
      annotations: { [specAnnotation]: hashOf(spec) },
    },
    spec,
  };
}

function hashOf(spec: V1NetworkPolicySpec): string {
  return createHash("sha256").update(JSON.stringify(spec)).digest("hex").slice(0, 16);
}

/** Tries again when another scheduler of the project changed it meanwhile. */
const attempts = 4;

/** Makes the policy, or changes the one that is there when it is another. */
export async function ensurePolicy(
  { networking, namespace }: Pick<KubeClient, "networking" | "namespace">,
  wanted: V1NetworkPolicy,
): Promise<void> {
  const name = wanted.metadata?.name ?? "";
  for (let attempt = 1; ; attempt += 1) {
    const found = await networking
      .readNamespacedNetworkPolicy({ name, namespace })
      .catch(ifStatus(null, 404));
    if (found !== null && isSame(found, wanted)) return;
    const isLast = attempt === attempts;
    try {
      if (found === null)
        await networking.createNamespacedNetworkPolicy({ namespace, body: wanted });
      else
        await networking.replaceNamespacedNetworkPolicy({
          name,
          namespace,
          body: { ...wanted, metadata: { ...wanted.metadata, ...versionOf(found) } },
        });
      return;
    } catch (error) {
      if (statusOf(error) !== 409 || isLast) throw error;
    }
  }
}

function isSame(found: V1NetworkPolicy, wanted: V1NetworkPolicy): boolean {
  const [a, b] = [found, wanted].map(({ metadata }) => metadata?.annotations?.[specAnnotation]);
  return a === b;
}

/** With it the server refuses to replace what another client has changed since. */
function versionOf({ metadata }: V1NetworkPolicy): { resourceVersion?: string } {
  return metadata?.resourceVersion === undefined
    ? {}
    : { resourceVersion: metadata.resourceVersion };
}
