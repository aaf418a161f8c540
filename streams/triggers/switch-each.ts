import { Observable, Subscription, type OperatorFunction } from "rxjs";

interface Named {
  readonly name: string;
}

export interface SwitchEachOptions<T, R> {
  readonly isSame: (before: T, now: T) => boolean;
  /** `isFirst`: whether the value is in the first list. */
  readonly open: (value: T, isFirst: boolean) => Observable<R>;
  /** What is emitted as a value leaves the list. */
  readonly gone: (name: string) => R;
}

/**
 * An inner stream for each value of the latest list, by its name: one that changes switches its own stream, and leaves the
 * others alone.
 *
 *     lists:  ─[a1 b1]──[a1 b2]──[a1]──
 *     a1:      ────────────────────────
 *     b:       b1───────b2───────(gone)
 *
 * Completes once the lists and all streams have; an error of any ends all. Groups of rxjs would cost each agent some 4 KB.
 */
export function switchEach<T extends Named, R>({
  isSame,
  open,
  gone,
}: SwitchEachOptions<T, R>): OperatorFunction<readonly T[], R> {
  return (list$) =>
    new Observable((subscriber) => {
      const inners = new Map<string, readonly [value: T, inner: Subscription]>();
      const fail = (error: unknown): void => subscriber.error(error);
      let isFirst = true;
      let isOver = false;
      const completeIfDone = (): void => {
        if (isOver && [...inners.values()].every(([, inner]) => inner.closed))
          subscriber.complete();
      };
      const leave = (name: string, inner: Subscription): void => {
        inner.unsubscribe();
        inners.delete(name);
        subscriber.next(gone(name));
      };
      const enter = (value: T): void => {
        // The values before it in its list may have ended all.
        if (subscriber.closed) return;
        const [before, earlier] = inners.get(value.name) ?? [];
        if (before !== undefined && isSame(before, value)) return;
        earlier?.unsubscribe();
        const inner = new Subscription();
        inners.set(value.name, [value, inner]);
        const next = (result: R): void => subscriber.next(result);
        const complete = (): void => {
          inner.unsubscribe();
          completeIfDone();
        };
        inner.add(open(value, isFirst).subscribe({ next, error: fail, complete }));
      };
      subscriber.add(() => {
        for (const [, inner] of inners.values()) inner.unsubscribe();
      });
      const next = (list: readonly T[]): void => {
        const names = new Set(list.map(({ name }) => name));
        for (const [name, [, inner]] of [...inners]) if (!names.has(name)) leave(name, inner);
        for (const value of list) enter(value);
        isFirst = false;
      };
      const complete = (): void => {
        isOver = true;
        completeIfDone();
      };
      subscriber.add(list$.subscribe({ next, error: fail, complete }));
    });
}
