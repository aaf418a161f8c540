/** How long a check of the shared resources stays valid, in ms. */
const validMs = 30_000;

/** The resources that all runs of an engine share: ensured by the first that needs them, and again periodically. */
export function createChecked(check: () => Promise<void>) {
  let validUntil = 0;
  let running: Promise<void> | null = null;
  const checkNow = async (): Promise<void> => {
    await check();
    validUntil = performance.now() + validMs;
  };
  return {
    ensure: async (): Promise<void> => {
      if (performance.now() < validUntil) return;
      await (running ??= checkNow().finally(() => (running = null)));
    },
    /** The engine may have come back without the resources. */
    forget: () => void (validUntil = 0),
  };
}
