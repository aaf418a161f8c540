/** A semaphore; waiters are served in order. */
export function createSlots(count: number) {
  let free = count;
  const waiting = new Set<() => void>();
  const release = () => {
    const [next] = waiting;
    if (next === undefined) free += 1;
    else next();
  };
  return {
    /** Resolves with the release, to be called once. Rejects with the reason of `signal`. */
    acquire: (signal: AbortSignal): Promise<() => void> =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const give = () => {
          waiting.delete(give);
          signal.removeEventListener("abort", leave);
          resolve(release);
        };
        const leave = () => {
          waiting.delete(give);
          reject(signal.reason as Error);
        };
        if (free > 0) {
          free -= 1;
          return resolve(release);
        }
        signal.addEventListener("abort", leave, { once: true });
        waiting.add(give);
      }),
  };
}
