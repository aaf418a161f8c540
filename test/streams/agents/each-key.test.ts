import { map, merge, of, Subject, take } from "rxjs";
import type { Observable } from "rxjs";
import { describe, expect, it } from "vitest";
import { eachKey } from "../../../streams/agents/each-key.ts";
import { marbles } from "../../helpers/marbles.ts";

/** Says `*` when it is opened, then up to two values. */
const twoOf = (value$: Observable<string>): Observable<string> =>
  value$.pipe(
    eachKey(
      (letter) => letter.toLowerCase(),
      (_, own$) => merge(of("*"), own$.pipe(take(2))),
    ),
  );

describe("each key", () => {
  it("has a stream of its own, which is opened anew after it was over", () =>
    marbles(({ hot, expectObservable }) => {
      const values = "  -a---b---A-a----B-|";
      const expected = "-(*a)(*b)A-(*a)-B-|";
      expectObservable(twoOf(hot(values))).toBe(expected);
    }));

  it("leaves the source when it is left", () =>
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const source = hot("-a----b-");
      expectObservable(twoOf(source), "^----!").toBe("-(*a)");
      expectSubscriptions(source.subscriptions).toBe("^----!");
    }));

  it("holds on to nothing of keys that are over", () => {
    const source$ = new Subject<number>();
    let open = 0;
    const own$s: Observable<number>[] = [];
    const subscription = source$
      .pipe(
        eachKey(String, (_, own$: Observable<number>) => {
          open++;
          own$s.push(own$);
          return own$.pipe(
            take(1),
            map(() => open--),
          );
        }),
      )
      .subscribe();
    for (let key = 0; key < 1000; key++) source$.next(key);
    expect(open).toBe(0);
    // A group that is over completes whoever comes late.
    const late = own$s.map((own$) => {
      let isOver = false;
      own$.subscribe({ complete: () => (isOver = true) });
      return isOver;
    });
    expect(late.every(Boolean)).toBe(true);
    subscription.unsubscribe();
    expect(source$.observed).toBe(false);
  });

  it("completes once the source and all that is open have", () =>
    marbles(({ hot, cold, expectObservable }) => {
      const last = cold("---z|");
      const each$ = hot("-a-|").pipe(
        eachKey(
          (key: string) => key,
          () => last,
        ),
      );
      expectObservable(each$).toBe("----z|");
      expectObservable(
        hot("-|").pipe(
          eachKey(
            (key: string) => key,
            () => last,
          ),
        ),
      ).toBe("-|");
    }));

  it("passes an error of the source, of a key's stream and of its making on, and leaves the rest", () =>
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const own$ = cold("-z-z-z-z");
      expectObservable(
        hot("-a-#").pipe(
          eachKey(
            (key: string) => key,
            () => own$,
          ),
        ),
      ).toBe("--z#");
      const broken$ = hot("-a-b").pipe(
        eachKey(
          (key: string) => key,
          (key) => (key === "b" ? cold("#") : own$),
        ),
      );
      expectObservable(broken$).toBe("--z#");
      const thrown$ = hot("-a").pipe(
        eachKey(
          (key: string) => key,
          (): Observable<string> => {
            throw new Error("broken");
          },
        ),
      );
      expectObservable(thrown$).toBe("-#", undefined, new Error("broken"));
      expectSubscriptions(own$.subscriptions).toBe(["-^-!", "-^-!"]);
    }));
});
