import { map, merge, of, Subject, take, throwError, type Observable } from "rxjs";
import { eachKey } from "../../../streams/agents/each-key.ts";
import { inVirtualTime } from "../../helpers/marbles.ts";

const each = (
  value$: Observable<string>,
  open: (key: string, own$: Observable<string>) => Observable<string>,
): Observable<string> => value$.pipe(eachKey((letter) => letter.toLowerCase(), open));

/** Emits `*` when it is opened, then up to two values. */
const two = (_key: string, own$: Observable<string>): Observable<string> =>
  merge(of("*"), own$.pipe(take(2)));

describe("a stream for each key", () => {
  test(
    "is opened for the key, and again after it has ended",
    inVirtualTime(({ hot, expectObservable }) => {
      const values = "  -a---b---A-a----B-|";
      const expected = "-(*a)(*b)A-(*a)-B-|";
      expectObservable(each(hot(values), two)).toBe(expected);
      expectObservable(each(hot("-(abAB)"), two)).toBe("-(*a*bAB)");
    }),
  );

  test("stores nothing for keys whose stream has ended", () => {
    const source$ = new Subject<string>();
    let open = 0;
    const own$s: Observable<string>[] = [];
    const subscription = each(source$, (_key, own$) => {
      open++;
      own$s.push(own$);
      return own$.pipe(
        take(1),
        map(() => String(open--)),
      );
    }).subscribe();
    for (let key = 0; key < 1000; key++) source$.next(String(key));
    expect(open).toBe(0);
    // A group that is over completes late subscribers.
    const late = own$s.map((own$) => {
      let isOver = false;
      own$.subscribe({ complete: () => (isOver = true) });
      return isOver;
    });
    expect(late.every(Boolean)).toBe(true);
    subscription.unsubscribe();
    expect(source$.observed).toBe(false);
  });

  test(
    "forwards an error of the source, of a key's stream or of its factory, and unsubscribes from the rest",
    inVirtualTime(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const own$ = cold("-z-z-z-z");
      expectObservable(each(hot("-a-#"), () => own$)).toBe("--z#");
      const broken$ = throwError(() => "error");
      expectObservable(each(hot("-a-b"), (key) => (key === "b" ? broken$ : own$))).toBe("--z#");
      const thrown$ = each(hot("-a"), () => {
        throw new Error("broken");
      });
      expectObservable(thrown$).toBe("-#", undefined, new Error("broken"));
      expectSubscriptions(own$.subscriptions).toBe(["-^-!", "-^-!"]);
    }),
  );
});
