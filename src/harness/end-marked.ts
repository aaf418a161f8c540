import { readdir, readFile } from "node:fs/promises";

/** Looking again catches what was forked while the list was read. */
const scans = 5;

/**
 * Kills every process that carries `mark` (`NAME=value`) in its environment, so that one which left the process
 * group (`setsid`) dies too. Reads /proc, so it does nothing where there is none; a process that also cleans its
 * environment is left to the end of the run.
 */
export async function endMarked(mark: string): Promise<void> {
  for (let scan = 0; scan < scans; scan += 1) {
    const pids = await marked(mark);
    if (pids.length === 0) return;
    pids.forEach(kill);
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

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended in the meantime.
  }
}
