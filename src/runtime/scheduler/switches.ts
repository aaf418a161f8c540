import type { Settings } from "../../foundation/store/settings.ts";
import type { Inputs } from "./inputs.ts";

/** What a person switches: the whole schedule, and single agents. Survives a restart. */
export interface Switches {
  isEnabled(agent: string): boolean;
  /** Resolves once committed, as setPaused does; both reject with UserError `store_unavailable` and change nothing. */
  setEnabled(agent: string, enabled: boolean): Promise<void>;
  setPaused(paused: boolean): Promise<void>;
}

/**
 * Switches that are committed before the streams emit them; a repeated one changes nothing. They are set one after
 * the other: of two that cross, the later one must not be taken for a repetition of what the earlier one replaces.
 */
export function createSwitches(
  settings: Pick<Settings, "disabledAgents" | "setDisabled" | "setPaused">,
  { enabled$, paused$ }: Pick<Inputs, "enabled$" | "paused$">,
  onPaused: (paused: boolean) => void,
): Switches {
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
    isEnabled: (agent) => !disabled.has(agent),
    setEnabled: (agent, enabled) => inTurn(() => setEnabled(agent, enabled)),
    setPaused: (paused) => inTurn(() => setPaused(paused)),
  };
}
