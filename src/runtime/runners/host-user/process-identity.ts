import { readFileSync } from "node:fs";

/** A process and its start, which distinguishes it from a later one with the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Boot id and start time of the kernel's count; null without /proc. */
  readonly start: string | null;
}

/** The identity of a live process. */
export function identityOf(pid: number): ProcessIdentity {
  return { pid, start: startOf(pid) };
}

/** Whether exactly this process still lives. Without /proc that is unknown, and it counts as gone. */
export function isAlive({ pid, start }: ProcessIdentity): boolean {
  return start !== null && startOf(pid) === start;
}

/** Field 22 of /proc/<pid>/stat (man proc), counted after the name, which may hold spaces and brackets. */
function startOf(pid: number): string | null {
  const stat = read(`/proc/${pid}/stat`);
  const boot = read("/proc/sys/kernel/random/boot_id");
  const [state, ...fields] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
  const start = fields[18];
  // A zombie only waits for its parent.
  if (start === undefined || state === "Z") return null;
  return `${boot?.trim() ?? ""}:${start}`;
}

function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
