import { Observable, Subject, type OperatorFunction, type Subscription } from "rxjs";

/**
 * One inner stream per key, opened by its first value and fed with all later ones until it completes; the next value
 * opens it anew. The cost of a key and of its end does not depend on the number of keys.
 *
 *     values:  ─a1──b1──a2──────a3──
 *     a:       ─a1──────a2|     a3──    opened anew, because the first had ended
 *     b:       ─────b1──────────────
 *
 * Completes once the source and all that is open have; an error of either goes to all.
 */
export function eachKey<T, R>(
  keyOf: (value: T) => string,
  open: (key: string, value$: Observable<T>) => Observable<R>,
): OperatorFunction<T, R> {
  return (value$) =>
    new Observable((subscriber) => {
      const inputs = new Map<string, Subject<T>>();
      const inners = new Set<Subscription>();
      let sourceDone = false;

      const fail = (error: unknown): void => {
        for (const input$ of [...inputs.values()]) input$.error(error);
        subscriber.error(error);
      };
      const completeIfDone = (): void => {
        if (sourceDone && inputs.size === 0) subscriber.complete();
      };
      const begin = (key: string): Subject<T> => {
        const input$ = new Subject<T>();
        inputs.set(key, input$);
        const inner = open(key, input$).subscribe({
          next: (value) => subscriber.next(value),
          error: fail,
          complete: () => {
            inputs.delete(key);
            input$.complete();
            completeIfDone();
          },
        });
        if (inner.closed) return input$;
        inners.add(inner);
        inner.add(() => inners.delete(inner));
        return input$;
      };

      subscriber.add(() => {
        for (const inner of [...inners]) inner.unsubscribe();
      });
      subscriber.add(
        value$.subscribe({
          next: (value) => {
            const key = keyOf(value);
            try {
              (inputs.get(key) ?? begin(key)).next(value);
            } catch (error) {
              fail(error);
            }
          },
          error: fail,
          complete: () => {
            sourceDone = true;
            for (const input$ of [...inputs.values()]) input$.complete();
            completeIfDone();
          },
        }),
      );
    });
}
