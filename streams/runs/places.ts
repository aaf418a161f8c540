/** The places that all agents of a project share: how many runs may live at once. */
export interface Places {
  /** Takes a place if one is free and nobody has waited longer. */
  tryTake(): boolean;
  release(): void;
  /** Calls `retry` once when a place may be free, first come first served; returns how to stop waiting. */
  wait(retry: () => void): () => void;
  /** Sets how many places there are; null is without limit. Runs that live already are left alone. */
  resize(limit: number | null): void;
}

/** Places with a limit that can change while runs live; waiting queues get them in the order they asked. */
export function createPlaces(limit: number | null = null): Places {
  let capacity = limit ?? Infinity;
  let taken = 0;
  // A Set keeps the order of arrival and lets anyone leave without a search.
  const waiting = new Set<() => void>();

  let offering = false;
  const offer = (): void => {
    // A run that ends inside its own start releases in the middle of an offer, which sees the new place by itself.
    if (offering) return;
    offering = true;
    for (const retry of waiting) {
      if (taken >= capacity) break;
      waiting.delete(retry);
      retry();
    }
    offering = false;
  };

  return {
    tryTake: () => {
      if (taken >= capacity || (waiting.size > 0 && !offering)) return false;
      taken++;
      return true;
    },
    release: () => {
      taken--;
      offer();
    },
    wait: (retry) => {
      waiting.add(retry);
      return () => waiting.delete(retry);
    },
    resize: (next) => {
      capacity = next ?? Infinity;
      offer();
    },
  };
}
