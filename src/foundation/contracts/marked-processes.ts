import { readdir, readFile } from "node:fs/promises";

/** Looking again catches what was forked while the list was read. */
const scans = 5;

/**
 * Kills every process that carries `mark` (`NAME=value`) in its environment, so that one which left the process group
 * (`setsid`) dies too. Reads /proc, so it does nothing where there is none. A process that also cleans its environment
 * escapes: only a PID namespace or a container holds that one.
 */
export async function killMarked(mark: string): Promise<void> {
  for (let scan = 0; scan < scans; scan += 1) {
    if ((await signalMarked(mark, "SIGKILL")) === 0) return;
  }
}

/** Signals every process that carries `mark`; resolves to how many there were. */
export async function signalMarked(mark: string, signal: NodeJS.Signals): Promise<number> {
  const pids = await marked(mark);
  for (const pid of pids) trySignal(pid, signal);
  return pids.length;
}

/** Signals a process, or the group of `-pid`; either may be gone already. */
export function trySignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // ESRCH, or EPERM where only zombies are left: nothing of it runs.
  }
}

async function marked(mark: string): Promise<readonly number[]> {
  const names = await readdir("/proc").catch(() => []);
  const pids = names.map(Number).filter((pid) => Number.isInteger(pid) && pid !== process.pid);
  const carries = await Promise.all(pids.map((pid) => hasMark(pid, mark)));
  return pids.filter((_pid, index) => carries[index]);
}

/** Another user's process cannot be read, and a dead one is empty: neither is ours to end. */
async function hasMark(pid: number, mark: string): Promise<boolean> {
  const environ = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
  return environ.split("\0").includes(mark);
}
