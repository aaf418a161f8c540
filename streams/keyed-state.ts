import { BehaviorSubject, Observable } from "rxjs";

/** A value for each key, and readers of each. */
export interface KeyedState<T> {
  get(key: string): T;
  set(key: string, value: T): void;
  /** The value now, and each later one that differs. */
  of(key: string): Observable<T>;
}

/**
 * Holds a value for each key; one that was never set has the initial one. A change costs the readers of its own key,
 * and a key that is back at the initial value and has no reader costs nothing.
 *
 *     set:    ──a1────b1──a1──a2─       initially 0
 *     of(a):  0─1─────────────2──
 */
export function keyedState<T>(initial: T): KeyedState<T> {
  const states = new Map<string, BehaviorSubject<T>>();
  const stateOf = (key: string): BehaviorSubject<T> => {
    const known = states.get(key);
    if (known !== undefined) return known;
    const state$ = new BehaviorSubject(initial);
    states.set(key, state$);
    return state$;
  };
  const tidy = (key: string, state$: BehaviorSubject<T>): void => {
    if (!state$.observed && state$.value === initial) states.delete(key);
  };
  return {
    get: (key) => states.get(key)?.value ?? initial,
    set: (key, value) => {
      const state$ = stateOf(key);
      if (state$.value !== value) state$.next(value);
      tidy(key, state$);
    },
    of: (key) =>
      new Observable((subscriber) => {
        const state$ = stateOf(key);
        const subscription = state$.subscribe(subscriber);
        return () => {
          subscription.unsubscribe();
          tidy(key, state$);
        };
      }),
  };
}
