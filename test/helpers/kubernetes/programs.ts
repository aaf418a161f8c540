import { existsSync } from "node:fs";
import { join } from "node:path";
import { programsDir } from "../../kubernetes/build-cluster.ts";

/** Why no cluster can be started here; null if one can. */
export const missingProgram: string | null =
  process.getuid?.() !== 0
    ? "needs root"
    : (["kubelet", "kube-router", "pause"]
        .map(program)
        .concat("/usr/bin/etcd", "/usr/bin/containerd", "/usr/lib/cni/ptp", "/usr/sbin/ipset")
        .find((file) => !existsSync(file)) ?? null);

/** Path of a program of Kubernetes. */
export function program(name: string): string {
  return join(programsDir, name);
}
