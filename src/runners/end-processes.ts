import { readdir, readFile } from "node:fs/promises";

/** Signals a process group, which may be gone already. */
export function signalGroup(groupId: number, signal: NodeJS.Signals): void {
  trySignal(-groupId, signal);
}

/** Looking again catches what was forked while the list was read. */
const scans = 5;

/**
 * Kills every process that carries a run's `AL_INSTANCE` in its environment, so that one which left the process
 * group (`setsid`) dies too. Reads /proc, so it does nothing where there is none. A process that also cleans its
 * environment escapes: only a PID namespace or a container holds that one.
 */
export async function killMarked(instanceId: string): Promise<void> {
  for (let scan = 0; scan < scans; scan += 1) {
    if ((await signalMarked(instanceId, "SIGKILL")) === 0) return;
  }
}

/** Signals every process that carries a run's mark; resolves to how many there were. */
export async function signalMarked(instanceId: string, signal: NodeJS.Signals): Promise<number> {
  const pids = await marked(instanceId);
  for (const pid of pids) trySignal(pid, signal);
  return pids.length;
}

function trySignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // ESRCH, or EPERM where only zombies are left: nothing of it runs.
  }
}

async function marked(instanceId: string): Promise<readonly number[]> {
  const names = await readdir("/proc").catch(() => []);
  const pids = names.map(Number).filter((pid) => Number.isInteger(pid) && pid !== process.pid);
  const found = await Promise.all(
    pids.map(async (pid) => ((await carries(pid, instanceId)) ? pid : null)),
  );
  return found.filter((pid) => pid !== null);
}

/** Another user's process cannot be read, and a dead one is empty: neither is ours to end. */
async function carries(pid: number, instanceId: string): Promise<boolean> {
  const environ = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
  return environ.split("\0").includes(`AL_INSTANCE=${instanceId}`);
}
