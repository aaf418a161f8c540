import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";

export interface NodeFiles {
  readonly dir: string;
  /** The addresses of its pods. */
  readonly podRange: string;
  readonly cgroup: string;
  /** Address of the cluster's name server; nothing answers there. */
  readonly dns: string;
  /** Hosts of registries that are asked without TLS. */
  readonly registries: readonly string[];
}

/** Configuration of containerd, its network plugin and the kubelet. */
export function writeNodeFiles(options: NodeFiles): void {
  const { dir, podRange, registries } = options;
  for (const folder of ["cni", "certs.d"]) mkdirSync(join(dir, folder), { recursive: true });
  for (const host of registries) {
    mkdirSync(join(dir, "certs.d", host), { recursive: true });
    writeFileSync(join(dir, "certs.d", host, "hosts.toml"), `server = "http://${host}"\n`);
  }
  writeFileSync(join(dir, "resolv.conf"), "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n");
  writeFileSync(join(dir, "containerd.toml"), containerd(dir));
  writeFileSync(join(dir, "cni/10-pods.conflist"), JSON.stringify(network(podRange)));
  writeKubeletConfig(options);
  rmSync(join(dir, "restart"), { force: true });
  execFileSync("mkfifo", [join(dir, "restart")]);
}

export function writeKubeletConfig(options: NodeFiles, changed: object = {}): void {
  const config = { ...kubeletConfig(options), ...changed };
  writeFileSync(join(options.dir, "kubelet.json"), JSON.stringify(config));
}

function containerd(dir: string): string {
  return `
version = 2
root = "${dir}/containerd"
state = "/run/containerd"
[grpc]
address = "${dir}/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
path = "${dir}/opt"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "docker.io/library/al-test-pause:1"
disable_apparmor = true
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = "${dir}/cni"
[plugins."io.containerd.grpc.v1.cri".registry]
config_path = "${dir}/certs.d"
`;
}

/** Each pod is routed, so that the rules for forwarded packets hold for pods of one node, too. */
function network(podRange: string): object {
  const ipam = {
    type: "host-local",
    dataDir: "/run/cni",
    ranges: [[{ subnet: podRange }]],
    routes: [{ dst: "0.0.0.0/0" }],
  };
  return { cniVersion: "0.4.0", name: "pods", plugins: [{ type: "ptp", ipam }] };
}

function kubeletConfig({ dir, cgroup, dns }: NodeFiles): object {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: "AlwaysAllow" },
    cgroupDriver: "cgroupfs",
    cgroupRoot: cgroup,
    containerRuntimeEndpoint: `unix://${dir}/containerd.sock`,
    podLogsDir: join(dir, "pod-logs"),
    clusterDNS: [dns],
    resolvConf: join(dir, "resolv.conf"),
    failSwapOn: false,
    makeIPTablesUtilChains: false,
    imageGCHighThresholdPercent: 100,
    evictionHard: {},
    maxPods: 120,
    registryPullQPS: 0,
    kubeAPIQPS: 200,
    kubeAPIBurst: 400,
    nodeStatusUpdateFrequency: "2s",
    nodeLeaseDurationSeconds: 8,
    podPidsLimit: 512,
    syncFrequency: "10s",
  };
}
