import { Observable, Subject } from "rxjs";

/**
 * Hands each value to the stream of its key only, at a cost that does not depend on how many keys there are.
 *
 *     source:    ─a1──b1──a2──c1─      a and b have listeners
 *     to(a):     ─a1──────a2─────
 *     to(b):     ─────b1─────────
 *     unrouted:  ─────────────c1─
 *
 * When the source completes or errors, so do all.
 */
export function routeByKey<T>(source$: Observable<T>, keyOf: (value: T) => string) {
  const listeners = new Map<string, Subject<T>>();
  const all = (notify: (listener: Subject<T>) => void): void =>
    [...listeners.values()].forEach(notify);

  return {
    /** Values addressed to `key`, from subscription on; every subscriber of a key gets each value. */
    to: (key: string): Observable<T> =>
      new Observable<T>((subscriber) => {
        const listener$ = listeners.get(key) ?? new Subject<T>();
        listeners.set(key, listener$);
        const subscription = listener$.subscribe(subscriber);
        return () => {
          subscription.unsubscribe();
          if (!listener$.observed && listeners.get(key) === listener$) listeners.delete(key);
        };
      }),
    /** Drives the routing: subscribes to the source and emits values without a listener. */
    unrouted$: new Observable<T>((subscriber) =>
      source$.subscribe({
        next: (value) => (listeners.get(keyOf(value)) ?? subscriber).next(value),
        error: (error: unknown) => {
          all((listener$) => listener$.error(error));
          subscriber.error(error);
        },
        complete: () => {
          all((listener$) => listener$.complete());
          subscriber.complete();
        },
      }),
    ),
  };
}

export type Routes<T> = ReturnType<typeof routeByKey<T>>;
