import { BehaviorSubject, distinctUntilChanged, map, type Observable } from "rxjs";
import type { RunRequest } from "../vocabulary.ts";
import type { Slot } from "./slots.ts";

/** A claimed or adopted run. */
export interface RunStart {
  readonly request: RunRequest;
  /** Null for an adopted run that found none free. */
  readonly slot: Slot | null;
  /** How long its clock was paused under an earlier scheduler, in ms. */
  readonly waitedMs: number;
}

/** The clock by which a run times out. It is paused while the run is suspended. */
export interface RunClock {
  /** Emits at once. */
  readonly paused$: Observable<boolean>;
  /** Pauses it until the returned function is called. */
  pause(): () => void;
  /** How long it was paused so far, in ms. */
  waitedMs(): number;
  /** A monotonic clock in whole ms. */
  readonly elapsed: () => number;
}

/** The clock and the slot of one run, which is suspended while it waits. */
export interface Suspension extends RunClock {
  /**
   * The run waits: its slot is free for others, and its clock is paused on request. Returns how to resume it: `ready` is
   * called once the run has a slot again, and never if it ended before.
   */
  suspend(pausesClock: boolean): (ready: () => void) => void;
}

/** Facts about a run at its end that its process does not report. */
export interface FactsAtEnd {
  /** Why its last call to a model was rejected for its budget; null or absent if it was not. */
  readonly overBudget?: string | null;
  /** Whether the provider refused the key of its last call to a model. */
  readonly isKeyRefused?: boolean;
  /** Why it is not a success: its question was open. Null or absent if it was not. */
  readonly unanswered?: string | null;
}

/** Owns live runs outside the stream of their events, from their claim or adoption until they finished. */
export interface RunOwner {
  enter(start: RunStart): Suspension;
  /** Called once, when the run's process has ended. */
  factsAtEnd(instanceId: string): FactsAtEnd;
}

/** Not suspended at first. A run with several waits works again with the first that ends. */
export function createSuspension(
  { slot, waitedMs }: Pick<RunStart, "slot" | "waitedMs">,
  elapsed: () => number,
): Suspension {
  const pauses$ = new BehaviorSubject(0);
  let waited = waitedMs;
  let since = 0;
  const pause = (): (() => void) => {
    if (pauses$.value === 0) since = elapsed();
    pauses$.next(pauses$.value + 1);
    return unpause;
  };
  const unpause = (): void => {
    if (pauses$.value === 1) waited += elapsed() - since;
    pauses$.next(pauses$.value - 1);
  };
  return {
    elapsed,
    paused$: pauses$.pipe(
      map((count) => count > 0),
      distinctUntilChanged(),
    ),
    pause,
    waitedMs: () => waited + (pauses$.value > 0 ? elapsed() - since : 0),
    suspend: (pausesClock) => {
      if (pausesClock) pause();
      slot?.release();
      return (ready) => {
        const resume = (): void => {
          if (pausesClock) unpause();
          ready();
        };
        if (slot === null) resume();
        else slot.reacquire(resume);
      };
    },
  };
}
