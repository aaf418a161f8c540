/** Remembers what a costly read gave, for as long as the difference does not show. */
export interface ShortMemory<T> {
  get(key: string): Promise<T>;
}

/**
 * Reads each key at most once in `ttlMs`, however many ask; a failed read is not remembered. With a short time, a
 * secret that changes on disk is in force at once for people, and a burst of deliveries costs one read.
 */
export function shortMemory<T>(
  read: (key: string) => Promise<T>,
  ttlMs: number,
  now: () => number,
): ShortMemory<T> {
  const known = new Map<string, { readonly at: number; readonly value: Promise<T> }>();
  return {
    get: (key) => {
      const hit = known.get(key);
      if (hit !== undefined && now() - hit.at < ttlMs) return hit.value;
      const value = read(key);
      known.set(key, { at: now(), value });
      value.catch(() => known.delete(key));
      return value;
    },
  };
}
