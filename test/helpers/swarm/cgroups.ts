import { existsSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";

const root = "/sys/fs/cgroup";
/** Version 2 has one tree for all limits, version 1 one for each kind. */
const unified = existsSync(join(root, "cgroup.controllers"));

const rigParent = (slot: number) => `al-swarm-${slot}`;
/** The cgroup that a node's containers are in. */
export const cgroupParent = (slot: number, node: number) => `/${rigParent(slot)}/n${node}`;

/** The limits that the kernel holds a container to; null for none. */
export interface KernelLimits {
  readonly memoryBytes: number | null;
  /** Processors. */
  readonly cpus: number | null;
  readonly pids: number | null;
}

/** A container's limits, as the kernel of its node has them. */
export function kernelLimits(slot: number, node: number, container: string): KernelLimits {
  const place = join(cgroupParent(slot, node), container);
  const read = (kind: string, name: string) =>
    readFileSync(join(root, unified ? "" : kind, place, name), "utf8").trim();
  if (unified) {
    const [quota = "max", period = "1"] = read("", "cpu.max").split(" ");
    return {
      memoryBytes: limited(read("", "memory.max")),
      cpus: quota === "max" ? null : Number(quota) / Number(period),
      pids: limited(read("", "pids.max")),
    };
  }
  const quota = Number(read("cpu", "cpu.cfs_quota_us"));
  return {
    memoryBytes: limited(read("memory", "memory.limit_in_bytes")),
    cpus: quota < 0 ? null : quota / Number(read("cpu", "cpu.cfs_period_us")),
    pids: limited(read("pids", "pids.max")),
  };
}

/** Version 1 writes a number near 2^63 for no limit. */
function limited(text: string): number | null {
  return text === "max" || Number(text) > 2 ** 60 ? null : Number(text);
}

/** Removes the cgroups of a slot, which no process is in. */
export function removeCgroups(slot: number): void {
  const trees = unified ? [root] : readdirSync(root).map((kind) => join(root, kind));
  for (const tree of trees) removeTree(join(tree, rigParent(slot)));
}

function removeTree(dir: string): void {
  if (!existsSync(dir)) return;
  const entries = readdirSync(dir, { withFileTypes: true });
  for (const entry of entries) if (entry.isDirectory()) removeTree(join(dir, entry.name));
  try {
    rmdirSync(dir);
  } catch {
    // A process in it is still ending; an empty cgroup harms nothing.
  }
}
