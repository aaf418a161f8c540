import { readdir, readFile, readlink } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";

/** Repeated scans catch processes that were forked while the list was read. */
const scans = 5;

/**
 * Kills every process with `mark` (`NAME=value`) in its environment, even one that left the process group (`setsid`).
 * Does nothing on a system without /proc. A process that also cleans its environment escapes: only a PID namespace or a
 * container holds that one.
 */
export async function killMarked(mark: string): Promise<void> {
  for (let scan = 0; scan < scans; scan += 1) {
    if ((await signalMarked(mark, "SIGKILL")) === 0) return;
  }
}

/** Kills all processes of a run that carry its `AL_INSTANCE`; see `killMarked`. */
export function killRun(instanceId: string): Promise<void> {
  return killMarked(`AL_INSTANCE=${instanceId}`);
}

/** Signals all processes of a run that carry its `AL_INSTANCE`. */
export async function signalRun(instanceId: string, signal: NodeJS.Signals): Promise<void> {
  await signalMarked(`AL_INSTANCE=${instanceId}`, signal);
}

/** Signals every process that carries `mark`; resolves to their number. */
async function signalMarked(mark: string, signal: NodeJS.Signals): Promise<number> {
  const names = await readdir("/proc").catch(() => []);
  const pids = names.map(Number).filter((pid) => Number.isInteger(pid) && pid !== process.pid);
  const signalled = await Promise.all(
    pids.map(async (pid) => {
      const isMarked = await hasMark(pid, mark);
      // Killed at once: judging the others may take a while, in which it could fork, or its number be reused.
      if (isMarked) trySignal(pid, signal);
      return isMarked;
    }),
  );
  return signalled.filter(Boolean).length;
}

/** Signals a process group, which may be gone already. */
export function signalGroup(groupId: number, signal: NodeJS.Signals): void {
  trySignal(-groupId, signal);
}

/** Signals a process, or the group of `-pid`; either may be gone already. */
function trySignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // ESRCH, or EPERM if only zombies are left: the processes have ended.
  }
}

/** Another user's process can't be read and a dead one is empty: neither is ours to end. */
async function hasMark(pid: number, mark: string, reads = 5): Promise<boolean> {
  const environ = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => null);
  if (environ) return environ.split("\0").includes(mark);
  // A process that is just starting its program (execve) has that program, but no environment yet: it is read again.
  const isEmpty = environ === "" && (await readlink(`/proc/${pid}/exe`).catch(() => "")) !== "";
  return isEmpty && reads > 1 && (await wait(10).then(() => hasMark(pid, mark, reads - 1)));
}
