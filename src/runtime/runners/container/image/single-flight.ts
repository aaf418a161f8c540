import { defer, finalize, ReplaySubject, share } from "rxjs";
import type { Observable } from "rxjs";

/**
 * Work that is done once for all subscribers of one key at the same time: a later one gets what was emitted so far,
 * as `joined` shows it to those that did not start it. It ends early when the last one leaves, and is forgotten when it
 * is over.
 */
export function singleFlight<T>(
  joined: (event$: Observable<T>) => Observable<T>,
): (key: string, work: () => Observable<T>) => Observable<T> {
  const running = new Map<string, Observable<T>>();
  return (key, work) =>
    defer(() => {
      const there = running.get(key);
      if (there !== undefined) return joined(there);
      const shared$ = work().pipe(
        finalize(() => running.delete(key)),
        share({ connector: () => new ReplaySubject<T>() }),
      );
      running.set(key, shared$);
      return shared$;
    });
}
