import {
  concat,
  defer,
  distinctUntilChanged,
  EMPTY,
  of,
  startWith,
  switchMap,
  takeWhile,
} from "rxjs";
import type { Observable } from "rxjs";
import type { Clock } from "../../../streams/clock.ts";

/** Whether the budgets of a run can pay its model after a rejected call. */
export type RunFunds =
  | {
      readonly type: "short";
      /** Epoch ms at which the window of the limit turns; null for the limit of a run. */
      readonly endsAt: number | null;
      /** Which limit the run waits for, and until when: for people. */
      readonly text: string;
    }
  | { readonly type: "paid" }
  /** The agent's runs stop at their limits. */
  | { readonly type: "stops" };

/**
 * The result of `look` at first, whenever the window of the limit turns, and when something changed; to the first that is
 * no limit. Never completes before.
 *
 *     look:      S until 4, then T, paid after the change     S, T short of money
 *     changed$:  ─────────x──
 *     out:       S───T────(p|)
 */
export function followFunds(
  look: () => RunFunds,
  changed$: Observable<unknown>,
  clock: Clock,
): Observable<RunFunds> {
  const looked = (): Observable<RunFunds> =>
    defer(() => {
      const funds = look();
      const endsAt = funds.type === "short" ? funds.endsAt : null;
      const turned$ = endsAt === null ? EMPTY : clock.at(endsAt).pipe(switchMap(looked));
      return concat(of(funds), turned$);
    });
  return changed$.pipe(
    startWith(null),
    switchMap(looked),
    distinctUntilChanged(isSame),
    takeWhile(({ type }) => type === "short", true),
  );
}

function isSame(a: RunFunds, b: RunFunds): boolean {
  if (a.type !== "short" || b.type !== "short") return a.type === b.type;
  return a.text === b.text;
}
