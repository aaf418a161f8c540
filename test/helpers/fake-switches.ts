import type { fakeStatus } from "./fake-snapshot.ts";

/** Pauses and enabled agents, kept in a status that a test made. */
export function fakeSwitches(
  called: (name: string, ...given: readonly unknown[]) => void,
  status: ReturnType<typeof fakeStatus>,
) {
  return {
    setPaused: async (paused: boolean, work = false) => {
      called("setPaused", paused, ...(work ? ["work"] : []));
      const pausedAt = paused ? new Date().toISOString() : null;
      status.setScheduler({ paused, pausedWork: paused && work, pausedAt });
      return Promise.resolve();
    },
    setEnabled: async (name: string, enabled: boolean) => {
      called("setEnabled", name, enabled);
      status.setAgent({ ...status.find(name), enabled });
      return Promise.resolve();
    },
  };
}
