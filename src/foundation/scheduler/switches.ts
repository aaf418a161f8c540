import { setImmediate as nextTurn } from "node:timers/promises";
import { oneAtATime } from "../contracts/one-at-a-time.ts";
import type { Store } from "../store/store.ts";
import type { Pause, Settings } from "../store/settings.ts";
import type { Inputs } from "./inputs.ts";

export type Switches = ReturnType<typeof createSwitches>;

interface SwitchedStore {
  readonly settings: Pick<Settings, "disabledAgents" | "setDisabled" | "setPause">;
  readonly waitingWork: Pick<Store["waitingWork"], "lastPlace">;
}

/**
 * Pauses all schedules or all new work, and disables single agents; survives a restart. A switch is committed before the
 * streams emit it, a repeated one changes nothing. They are set one after another, so that the later of two concurrent
 * switches is not mistaken for a repetition.
 */
export function createSwitches(
  { settings, waitingWork }: SwitchedStore,
  {
    enabled$,
    paused$,
    workPausedAfter$,
  }: Pick<Inputs, "enabled$" | "paused$" | "workPausedAfter$">,
  onPaused: (pause: Pause) => void,
) {
  const disabled = new Set(settings.disabledAgents());
  const inTurn = oneAtATime();

  const setEnabled = async (agent: string, enabled: boolean): Promise<void> => {
    if (disabled.has(agent) === !enabled) return;
    await settings.setDisabled(agent, !enabled);
    if (enabled) disabled.delete(agent);
    else disabled.add(agent);
    enabled$.next({ agent, enabled });
  };
  const setPaused = async (schedules: boolean, asksForWork: boolean): Promise<void> => {
    const wasWork = workPausedAfter$.value !== null;
    const work = schedules && (asksForWork || wasWork);
    if (schedules === paused$.value && work === wasWork) return;
    const pause = { schedules, work, since: schedules ? Date.now() : null };
    await settings.setPause(pause);
    // Callers dispatch work within the turn of its commit: now all of it is in the queues, and later work is not.
    await nextTurn();
    const after = work ? waitingWork.lastPlace() : null;
    paused$.next(schedules);
    workPausedAfter$.next(after);
    onPaused(pause);
  };
  return {
    isEnabled: (agent: string): boolean => !disabled.has(agent),
    /** Resolves once committed, as setPaused does; both reject with Problem `store_unavailable` and change nothing. */
    setEnabled: (agent: string, enabled: boolean) => inTurn(() => setEnabled(agent, enabled)),
    /** Pauses all schedules, with `work` also all new work, which then stays paused until `paused` is false. */
    setPaused: (paused: boolean, work = false) => inTurn(() => setPaused(paused, work)),
  };
}
