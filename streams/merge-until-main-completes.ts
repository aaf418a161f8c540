import { Observable } from "rxjs";

/**
 * Both streams, until the main one completes; it is subscribed to last.
 *
 *     main:    ──m────m──|
 *     beside:  b───b────────b─
 *     out:     b─m─b──m──|
 *
 * An error of either is the end of both.
 */
export function mergeUntilMainCompletes<T>(
  main$: Observable<T>,
  beside$: Observable<T>,
): Observable<T> {
  return new Observable((subscriber) => {
    const next = (value: T): void => subscriber.next(value);
    const error = (reason: unknown): void => subscriber.error(reason);
    subscriber.add(beside$.subscribe({ next, error }));
    if (!subscriber.closed) subscriber.add(main$.subscribe(subscriber));
  });
}
