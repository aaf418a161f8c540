import { BehaviorSubject, distinctUntilChanged, map } from "rxjs";
import type { Observable } from "rxjs";
import type { RunRequest } from "../vocabulary.ts";
import type { Place } from "./places.ts";

/** A run that begins to live. */
export interface NewLife {
  readonly request: RunRequest;
  /** Null for an adopted run that found none. */
  readonly place: Place | null;
  /** For how long its clock stood under an earlier scheduler, in ms. */
  readonly waitedMs: number;
}

/** What a run hears of its own rests. */
export interface Life {
  /** Whether its clock stands still; emits at once. */
  readonly standing$: Observable<boolean>;
  /** Its clock stands until what this returns is called. */
  stand(): () => void;
  /** For how long it stood so far, in ms. */
  waitedMs(): number;
  /** The clock by which it stands and goes, in ms. */
  elapsed(): number;
  /** The run is over. */
  end(): void;
}

/** The runs that live, and which of them wait for something instead of working. */
export interface Resting {
  enter(life: NewLife): Life;
  /** What a live run was started with. */
  of(instanceId: string): RunRequest | undefined;
  /** For how long a run's clock stood so far, in ms. */
  waitedMs(instanceId: string): number;
  /**
   * A run waits: others may have its place, and its clock stands if it is told so. Returns how it goes on: `ready` is
   * called once it has a place again, and never when it ended before.
   */
  rest(instanceId: string, clockStands: boolean): (ready: () => void) => void;
}

/**
 * Nobody lives yet. A run that waits for several things at once works again with the first that comes. `elapsed` is a
 * clock in whole ms that nobody sets, as a wall clock is.
 */
export function createResting(elapsed: () => number): Resting {
  const lives = new Map<string, ReturnType<typeof newLife>>();
  return {
    enter: (life) => {
      const { instanceId } = life.request;
      const own = newLife(life, elapsed);
      lives.set(instanceId, own);
      const { standing$, stand, waitedMs } = own;
      return { standing$, stand, waitedMs, elapsed, end: () => void lives.delete(instanceId) };
    },
    of: (instanceId) => lives.get(instanceId)?.request,
    waitedMs: (instanceId) => lives.get(instanceId)?.waitedMs() ?? 0,
    rest: (instanceId, clockStands) =>
      lives.get(instanceId)?.rest(clockStands) ?? (() => undefined),
  };
}

function newLife({ request, place, waitedMs }: NewLife, elapsed: () => number) {
  const standing$ = new BehaviorSubject(0);
  let waited = waitedMs;
  let since = 0;
  const stand = (): (() => void) => {
    if (standing$.value === 0) since = elapsed();
    standing$.next(standing$.value + 1);
    return goOn;
  };
  const goOn = (): void => {
    if (standing$.value === 1) waited += elapsed() - since;
    standing$.next(standing$.value - 1);
  };
  return {
    request,
    standing$: standing$.pipe(
      map((count) => count > 0),
      distinctUntilChanged(),
    ),
    stand,
    waitedMs: () => waited + (standing$.value > 0 ? elapsed() - since : 0),
    rest: (clockStands: boolean) => {
      if (clockStands) stand();
      place?.lend();
      return (ready: () => void): void => {
        const back = (): void => {
          if (clockStands) goOn();
          ready();
        };
        if (place === null) back();
        else place.reclaim(back);
      };
    },
  };
}
