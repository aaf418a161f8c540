import {
  killMarked,
  signalMarked,
  trySignal,
} from "../../foundation/contracts/marked-processes.ts";

/** Signals a process group, which may be gone already. */
export function signalGroup(groupId: number, signal: NodeJS.Signals): void {
  trySignal(-groupId, signal);
}

/** Kills all that a run started, as far as it carries the run's `AL_INSTANCE`; see `killMarked`. */
export function killRun(instanceId: string): Promise<void> {
  return killMarked(markOf(instanceId));
}

/** Signals all that a run started, as far as it carries the run's `AL_INSTANCE`. */
export async function signalRun(instanceId: string, signal: NodeJS.Signals): Promise<void> {
  await signalMarked(markOf(instanceId), signal);
}

function markOf(instanceId: string): string {
  return `AL_INSTANCE=${instanceId}`;
}
