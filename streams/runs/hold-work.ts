import { map, Observable, Subscription, type OperatorFunction } from "rxjs";
import type { Clock } from "../clock.ts";
import type { RunEvent, WorkItem } from "../vocabulary.ts";
import { queueRunEvent, type Withdrawn } from "./run-events.ts";

/** Some of the waiting work in the store. */
export interface StoredItems {
  /** The oldest first. */
  readonly items: readonly WorkItem[];
  /** The place of the last item; later items have higher places. */
  readonly last: number;
  /** Whether no item waits behind them. */
  readonly isEnd: boolean;
}

/** The waiting work in the store. */
export interface StoredWork {
  /** Emits the items after this place, in a turn in which every committed item has been dispatched. Must not error. */
  readonly after: (place: number) => Observable<StoredItems>;
  /** Called once all of them have passed. */
  readonly released: () => void;
}

export interface HoldOptions {
  /** The place in the store after which work waits; null while new work is not paused. Emits at once. */
  readonly pausedAfter$: Observable<number | null>;
  /** Work whose caller cancelled it. */
  readonly withdrawn$: Observable<Withdrawn>;
  readonly stored: StoredWork;
  readonly clock: Clock;
}

/**
 * While new work is paused, committed items wait in the store alone, so that memory is bounded and no queue drops one.
 * On resume they pass in order, a part at a time; items that arrive until the last part has passed wait behind them.
 *
 *     paused:  n──y─────────n────────
 *     items:   ─a───b──c──────d────e─      q: queued, outside of all queues
 *     out:     ─a───qb─qc───bcqd─d─e─
 */
export function holdWork(options: HoldOptions): OperatorFunction<WorkItem, WorkItem | RunEvent> {
  const { pausedAfter$, withdrawn$, stored, clock } = options;
  return (item$) =>
    new Observable((subscriber) => {
      const withdrawn = new Set<string>();
      let entering = Subscription.EMPTY;
      let after: number | null = null;

      const enter = (item: WorkItem): WorkItem | RunEvent => {
        if (!withdrawn.has(item.id)) return item;
        const queue = { agent: item.agent, at: clock.now(), usable: true };
        return queueRunEvent(queue, { type: "dropped", item, why: "withdrawn" });
      };
      const enterAfter = (place: number): void => {
        entering = stored.after(place).subscribe(({ items, last, isEnd }) => {
          after = last;
          for (const item of items) subscriber.next(enter(item));
          if (!isEnd) return enterAfter(last);
          after = null;
          withdrawn.clear();
          stored.released();
        });
      };
      const arrive = (item: WorkItem): WorkItem | RunEvent =>
        after === null
          ? item
          : { type: "queued", agent: item.agent, at: clock.now(), item, isPaused: true };

      subscriber.add(() => entering.unsubscribe());
      subscriber.add(
        pausedAfter$.subscribe((place) => {
          entering.unsubscribe();
          if (place !== null) after ??= place;
          else if (after !== null) enterAfter(after);
        }),
      );
      subscriber.add(
        withdrawn$.subscribe(({ itemId, why }) => {
          if (after !== null && why === "withdrawn") withdrawn.add(itemId);
        }),
      );
      subscriber.add(item$.pipe(map(arrive)).subscribe(subscriber));
    });
}
