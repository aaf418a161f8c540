import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { SwarmNetwork } from "../swarm/network.ts";
import type { Slot } from "../swarm/slot.ts";
import { cgroupParent } from "../swarm/cgroups.ts";
import { writeKubeletConfig, writeNodeFiles } from "./node-files.ts";
import { asMachine, startProcess, type OwnProcess } from "../own-process.ts";
import { program } from "./programs.ts";
import { pause } from "../pause.ts";

const run = promisify(execFile);

export interface KubeNodeOptions {
  readonly slot: Slot;
  readonly network: SwarmNetwork;
  /** Counts from 1. */
  readonly number: number;
  readonly podRange: string;
  /** Of the network's enforcer. */
  readonly adminKubeconfig: string;
  readonly serviceRange: string;
  readonly registries: readonly string[];
}

/**
 * The kubelet writes settings of the kernel, which are the whole machine's: it gets copies. Its folders must propagate
 * mounts. A line in `restart` restarts the kubelet alone.
 */
const script = `
set -e
dir="$0"; name="$1"
mount --make-rshared /
mount --bind "$dir/resolv.conf" "$(readlink -f /etc/resolv.conf)"
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p "$dir/sys"
for setting in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops; do
  cat "/proc/sys/$setting" >"$dir/sys/$(basename $setting)"
  mount --bind "$dir/sys/$(basename $setting)" "/proc/sys/$setting"
done
echo 1 >/proc/sys/net/ipv4/ip_forward
echo "$name" >/proc/sys/kernel/hostname
containerd -c "$dir/containerd.toml" -l warn >>"$dir/containerd.log" 2>&1 &
until [ -S "$dir/containerd.sock" ] && ctr -a "$dir/containerd.sock" version >/dev/null 2>&1; do sleep 0.1; done
until "$2" --kubeconfig="$4" --hostname-override="$name" --run-router=false --run-service-proxy=false --run-firewall=true \
  --service-cluster-ip-range="$5" --iptables-sync-period=1m --health-port=0 >>"$dir/enforcer.log" 2>&1
do sleep 0.5; done &
"$(dirname "$3")/kube-proxy" --kubeconfig="$4" --hostname-override="$name" --conntrack-max-per-core=0 \\
  --conntrack-tcp-timeout-established=0s --conntrack-tcp-timeout-close-wait=0s >>"$dir/proxy.log" 2>&1 &
while true; do
  "$3" --config="$dir/kubelet.json" --kubeconfig="$dir/../control/$name.kubeconfig" --hostname-override="$name" --node-ip="$6" \
    --root-dir="$dir/kubelet" --cert-dir="$dir/kubelet-pki" >>"$dir/kubelet.log" 2>&1 &
  kubelet=$!
  read -r line <"$dir/restart"
  kill -9 $kubelet
  wait $kubelet || true
done
`;

/** A node that has not been started. */
export function createKubeNode(options: KubeNodeOptions) {
  const { slot, network, number, podRange, registries } = options;
  const name = `n${number}`;
  const dir = join(slot.dir, name);
  const cgroup = cgroupParent(slot.number, number);
  const dns = options.serviceRange.replace("0/24", "10");
  const files = { dir, podRange, cgroup, dns, registries };
  const socket = join(dir, "containerd.sock");
  let running: OwnProcess | null = null;
  mkdirSync(dir, { recursive: true });
  makeCgroups(cgroup);
  const ctr = async (...args: readonly string[]): Promise<string> => {
    const { stdout } = await run("ctr", ["-a", socket, "-n", "k8s.io", ...args], {
      maxBuffer: 2 ** 26,
    });
    return stdout;
  };
  return {
    name,
    address: network.address(number),
    podRange,
    ctr,
    socket,
    /** As a power cut does: the node and every container on it end at once. */
    kill: async () => {
      const killed = running;
      running = null;
      await killed?.kill();
    },
    /** Starts it with the data that it had. */
    boot: () => {
      writeNodeFiles(files);
      const programs = [program("kube-router"), program("kubelet")];
      const given = [options.adminKubeconfig, options.serviceRange, network.address(number)];
      const init = ["docker-init", "--", "sh", "-c", script, dir, name, ...programs, ...given];
      const command = asMachine(network.namespace(number), ...init);
      running = startProcess("node", dir, command);
      return running;
    },
    /** Restarts the kubelet alone, with these fields of its configuration; what runs there runs on. */
    restartKubelet: (config: object) => {
      writeKubeletConfig(files, config);
      writeFileSync(join(dir, "restart"), "\n");
    },
    containerdAnswers: async () => {
      while (!existsSync(socket) || (await ctr("version").catch(() => null)) === null)
        await pause(100, "it is asked again");
    },
  };
}

/** A node of a test's cluster: containerd, a kubelet and the enforcer of network policies, with a network of its own. */
export type KubeNode = ReturnType<typeof createKubeNode>;

/** The kubelet makes its own below it. */
function makeCgroups(path: string): void {
  const root = "/sys/fs/cgroup";
  for (const kind of readdirSync(root)) {
    const own = join(root, kind, path);
    if (existsSync(join(root, kind, "cgroup.procs"))) mkdirSync(own, { recursive: true });
  }
}
