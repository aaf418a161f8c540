import { readFileSync, writeFileSync } from "node:fs";

/** Above this process, so that the system ends the run first and this process can report it. */
const ahead = 500;
const greatest = 1000;

/** Makes a process the first to go when memory is short. What it starts from here on inherits that. */
export function offerToOutOfMemory(pid: number): void {
  try {
    const own = Number(readFileSync("/proc/self/oom_score_adj", "utf8"));
    writeFileSync(`/proc/${pid}/oom_score_adj`, String(Math.min(greatest, own + ahead)));
  } catch {
    // It ended already, or this system has no such file.
  }
}

/** Whether a process of this one's cgroup was ended for want of memory since this was called. */
export function watchOutOfMemory(): () => boolean {
  const before = outOfMemoryKills();
  return () => outOfMemoryKills() > before;
}

/**
 * How many processes the kernel ended so far in this process's cgroup: `oom_kill` of `memory.events` in version 2, of
 * `memory.oom_control` in version 1 (kernel docs, admin-guide/cgroup-v2 and cgroup-v1/memory).
 */
function outOfMemoryKills(): number {
  for (const path of counterFiles()) {
    const [, count] = /^oom_kill (\d+)$/m.exec(textOf(path)) ?? [];
    if (count !== undefined) return Number(count);
  }
  return 0;
}

/** A container may see its own cgroup at the root, whatever the path is on its machine. */
function counterFiles(): readonly string[] {
  const lines = textOf("/proc/self/cgroup").split("\n");
  const of = (form: RegExp) => lines.map((line) => form.exec(line)?.[1]).find(Boolean) ?? "";
  return [
    `/sys/fs/cgroup${of(/^0::(.*)$/)}/memory.events`,
    `/sys/fs/cgroup/memory${of(/^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$/)}/memory.oom_control`,
    "/sys/fs/cgroup/memory.events",
    "/sys/fs/cgroup/memory/memory.oom_control",
  ];
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
