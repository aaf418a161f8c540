import { Observable, Subject } from "rxjs";

export interface Routes<T> {
  /** What is addressed to `key`, from subscription on; all who listen to a key get each of its values. */
  readonly to: (key: string) => Observable<T>;
  /** Drives the routing: subscribes to the source and emits what has no listener. */
  readonly unrouted$: Observable<T>;
}

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
export function routeByKey<T>(source$: Observable<T>, keyOf: (value: T) => string): Routes<T> {
  const listeners = new Map<string, Subject<T>>();
  const all = (notify: (listener: Subject<T>) => void): void =>
    [...listeners.values()].forEach(notify);

  return {
    to: (key) =>
      new Observable<T>((subscriber) => {
        const listener$ = listeners.get(key) ?? new Subject<T>();
        listeners.set(key, listener$);
        const subscription = listener$.subscribe(subscriber);
        return () => {
          subscription.unsubscribe();
          if (!listener$.observed && listeners.get(key) === listener$) listeners.delete(key);
        };
      }),
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
