/** One run's slot. Disposed of at the end of the run. */
export interface Slot extends Disposable {
  /** Frees it for others while the run waits; repeating it changes nothing. */
  release(): void;
  /** Calls `ready` once the run has it again: at once if one is free, else before all that wait for their first. */
  reacquire(ready: () => void): void;
}

/** Slots with a limit that can change while runs live; waiting queues get them in the order of their requests. */
export function createSlots(limit: number | null = null) {
  let capacity = limit ?? Infinity;
  let taken = 0;
  // Sets keep the order of arrival and remove an entry without a search.
  const returning = new Set<() => void>();
  const waiting = new Set<() => void>();

  let offering = false;
  const offer = (): void => {
    // A run that ends inside its own start frees its slot during an offer, which sees the new slot by itself.
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

  const newSlot = (): Slot => {
    let state: "held" | "released" | "disposed" = "held";
    const readies: (() => void)[] = [];
    const returnToRun = (): void => {
      taken++;
      state = "held";
      for (const ready of readies.splice(0)) ready();
    };
    const leave = (next: "released" | "disposed"): void => {
      if (state === "disposed") return;
      const had = state === "held";
      state = next;
      if (had) taken--;
      if (next === "disposed") returning.delete(returnToRun);
      if (had) offer();
    };
    return {
      release: () => leave("released"),
      [Symbol.dispose]: () => leave("disposed"),
      reacquire: (ready) => {
        if (state === "held") return ready();
        if (state === "disposed") return;
        readies.push(ready);
        returning.add(returnToRun);
        offer();
      },
    };
  };

  return {
    /** Takes a slot if one is free and no other has waited longer; null otherwise. */
    tryTake: (): Slot | null => {
      if (taken >= capacity || (waiting.size > 0 && !offering)) return null;
      taken++;
      return newSlot();
    },
    /** Calls `retry` once when a slot may be free, first come first served; returns a function that stops waiting. */
    wait: (retry: () => void): (() => void) => {
      waiting.add(retry);
      return () => waiting.delete(retry);
    },
    /** The number of slots; infinite without a limit. */
    size: () => capacity,
    /** Sets the number of slots; null is unlimited. Live runs are left alone. */
    resize: (next: number | null) => {
      capacity = next ?? Infinity;
      offer();
    },
  };
}

/** The slots that all agents of a project share: how many runs may live at once. */
export type Slots = ReturnType<typeof createSlots>;
