import type { Settings } from "../store/settings.ts";
import type { Inputs } from "./inputs.ts";

export type Switches = ReturnType<typeof createSwitches>;

/**
 * Pauses the whole schedule and disables single agents; survives a restart. A switch is committed before the streams emit
 * it, a repeated one changes nothing. They are set one after another, so that the later of two concurrent switches is not
 * mistaken for a repetition.
 */
export function createSwitches(
  settings: Pick<Settings, "disabledAgents" | "setDisabled" | "setPaused">,
  { enabled$, paused$ }: Pick<Inputs, "enabled$" | "paused$">,
  onPaused: (paused: boolean) => void,
) {
  const disabled = new Set(settings.disabledAgents());
  let last: Promise<void> = Promise.resolve();
  const inTurn = (set: () => Promise<void>): Promise<void> => {
    const done = last.then(set);
    last = done.catch(() => undefined);
    return done;
  };

  const setEnabled = async (agent: string, enabled: boolean): Promise<void> => {
    if (disabled.has(agent) === !enabled) return;
    await settings.setDisabled(agent, !enabled);
    if (enabled) disabled.delete(agent);
    else disabled.add(agent);
    enabled$.next({ agent, enabled });
  };
  const setPaused = async (paused: boolean): Promise<void> => {
    if (paused === paused$.value) return;
    await settings.setPaused(paused);
    paused$.next(paused);
    onPaused(paused);
  };
  return {
    isEnabled: (agent: string): boolean => !disabled.has(agent),
    /** Resolves once committed, as setPaused does; both reject with UserError `store_unavailable` and change nothing. */
    setEnabled: (agent: string, enabled: boolean) => inTurn(() => setEnabled(agent, enabled)),
    setPaused: (paused: boolean) => inTurn(() => setPaused(paused)),
  };
}
