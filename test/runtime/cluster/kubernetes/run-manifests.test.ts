import { expect, it } from "vitest";
import type { Pod } from "../../../helpers/kubernetes/wire-types.ts";
import { engineTest, launch, project } from "./support.ts";

/** The pod of a run as the API server has it. */
async function podOf(over: Parameters<typeof launch>[1] = {}, address?: string) {
  const { engine, cluster } = await engineTest(address === undefined ? {} : { address });
  await engine.ready();
  await engine.start(launch("dev", over));
  await expect.poll(() => cluster.store.list("pods")).toHaveLength(1);
  const [pod] = cluster.store.list("pods") as readonly Pod[];
  if (pod === undefined) throw new Error("there is no pod");
  return { pod, cluster };
}

it("gives a run its limits, and reserves no more than these", async () => {
  const reserve = { memory: "1g", cpus: 0.1 };
  const { pod } = await podOf({ limits: { memory: "512m", cpus: 2, network: "none" }, reserve });
  expect(pod.spec.containers[0]?.resources).toEqual({
    limits: { memory: "536870912", cpu: "2000m" },
    requests: { memory: "536870912", cpu: "100m" },
  });
});

it("keeps a run's files in memory, each folder at most half of its limit", async () => {
  const { pod } = await podOf({ volumes: ["/vol"] });
  const folders = pod.spec.containers[0]?.volumeMounts?.map(({ mountPath }) => mountPath);
  expect(folders).toEqual(["/workspace", "/tmp", "/home/al", "/run/al", "/vol", "/run/secrets"]);
  const memory = pod.spec.volumes?.flatMap(({ emptyDir }) => emptyDir ?? []);
  expect(memory).toEqual(Array(5).fill({ medium: "Memory", sizeLimit: String(256 * 1024 ** 2) }));
});

it("gives a run no service account, no more privileges than it has, and a read-only root", async () => {
  const { pod } = await podOf();
  expect(pod.spec).toMatchObject({
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    restartPolicy: "Never",
    shareProcessNamespace: true,
  });
  expect(pod.spec.containers[0]?.securityContext).toMatchObject({
    runAsUser: 10001,
    readOnlyRootFilesystem: true,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
  });
  // Not of the whole pod: its own first process must not be one that the run may end.
  expect(pod.spec.securityContext?.runAsUser).toBeUndefined();
});

it("lets a closed run resolve only the door's name, and reach only its addresses", async () => {
  const { pod, cluster } = await podOf({}, "localhost:8443");
  expect(pod.metadata.labels).toMatchObject({ "al.closed": project });
  expect(pod.spec).toMatchObject({
    dnsPolicy: "None",
    dnsConfig: { nameservers: ["127.0.0.1"] },
  });
  const [policy] = cluster.store.list("networkpolicies");
  const { hostAliases } = pod.spec as { hostAliases?: { ip: string; hostnames: string[] }[] };
  const ips = (hostAliases ?? []).map(({ ip, hostnames }) => {
    expect(hostnames).toEqual(["localhost"]);
    return ip;
  });
  expect(ips).toContain("127.0.0.1");
  const cidrs = ips.map((ip) => ({ ipBlock: { cidr: `${ip}/${ip.includes(":") ? 128 : 32}` } }));
  expect(policy).toMatchObject({
    spec: {
      podSelector: { matchLabels: { "al.closed": project } },
      policyTypes: ["Ingress", "Egress"],
      ingress: [],
      egress: [{ to: cidrs, ports: [{ protocol: "TCP", port: 8443 }] }],
    },
  });
});

it("gives an open run the network of every pod", async () => {
  const { pod } = await podOf({ limits: { memory: "1g", cpus: 1, network: "bridge" } });
  expect(pod.metadata.labels).not.toHaveProperty(["al.closed"]);
  expect(pod.spec).not.toHaveProperty("dnsPolicy");
});
