/** The places that all agents of a project share: how many runs may live at once. */
export interface Places {
  /** Takes a place if one is free and no other has waited longer; null otherwise. */
  tryTake(): Place | null;
  /** Calls `retry` once when a place may be free, first come first served; returns how to stop waiting. */
  wait(retry: () => void): () => void;
  /** Sets how many places there are; null is without limit. Runs that live already are left alone. */
  resize(limit: number | null): void;
}

/** One run's place. */
export interface Place {
  /** Gives it to others while the run waits for something; again is nothing new. */
  lend(): void;
  /** Calls `ready` once the run has it again: at once if one is free, else before all who wait for their first. */
  reclaim(ready: () => void): void;
  /** Gives it back for good. */
  release(): void;
}

/** Places with a limit that can change while runs live; waiting queues get them in the order they asked. */
export function createPlaces(limit: number | null = null): Places {
  let capacity = limit ?? Infinity;
  let taken = 0;
  // Sets keep the order of arrival and let anyone leave without a search.
  const returning = new Set<() => void>();
  const waiting = new Set<() => void>();

  let offering = false;
  const offer = (): void => {
    // A run that ends inside its own start releases in the middle of an offer, which sees the new place by itself.
    if (offering) return;
    offering = true;
    for (let next = nextInTurn(); next !== undefined; next = nextInTurn()) next();
    offering = false;
  };
  const nextInTurn = (): (() => void) | undefined => {
    if (taken >= capacity) return undefined;
    for (const turn of [returning, waiting]) {
      for (const next of turn) {
        turn.delete(next);
        return next;
      }
    }
    return undefined;
  };

  const newPlace = (): Place => {
    let state: "taken" | "lent" | "released" = "taken";
    const readies: (() => void)[] = [];
    const comeBack = (): void => {
      taken++;
      state = "taken";
      for (const ready of readies.splice(0)) ready();
    };
    const leave = (next: "lent" | "released"): void => {
      if (state === "released") return;
      const had = state === "taken";
      state = next;
      if (had) taken--;
      if (next === "released") returning.delete(comeBack);
      if (had) offer();
    };
    return {
      lend: () => leave("lent"),
      release: () => leave("released"),
      reclaim: (ready) => {
        if (state === "taken") return ready();
        if (state === "released") return;
        readies.push(ready);
        returning.add(comeBack);
        offer();
      },
    };
  };

  return {
    tryTake: () => {
      if (taken >= capacity || (waiting.size > 0 && !offering)) return null;
      taken++;
      return newPlace();
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
