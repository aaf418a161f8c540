import { defer, finalize, groupBy, mergeMap, Subject } from "rxjs";
import type { Observable, OperatorFunction } from "rxjs";

/**
 * One inner stream per key, opened by its first value and fed with all later ones until it completes; the next value
 * opens it anew. The cost of an end does not depend on how many keys there are.
 *
 *     values:  ─a1──b1──a2──────a3──
 *     a:       ─a1──────a2|     a3──    opened anew, because the first had ended
 *     b:       ─────b1──────────────
 */
export function eachKey<T, R>(
  keyOf: (value: T) => string,
  open: (key: string, value$: Observable<T>) => Observable<R>,
): OperatorFunction<T, R> {
  return (value$) =>
    defer(() => {
      // One end per key: told to all, the end of a thousand keys would be a million messages.
      const ends = new Map<string, Subject<void>>();
      return value$.pipe(
        groupBy(keyOf, {
          duration: ({ key }) => {
            const end$ = new Subject<void>();
            ends.set(key, end$);
            return end$;
          },
        }),
        mergeMap((group$) =>
          open(group$.key, group$).pipe(
            finalize(() => {
              const end$ = ends.get(group$.key);
              ends.delete(group$.key);
              end$?.next();
            }),
          ),
        ),
      );
    });
}
