import { Observable } from "rxjs";

/**
 * Both streams, for as long as the main one goes on: subscribed to after the other, it decides when both are over.
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
