import { map, timer, type Observable, type SchedulerLike } from "rxjs";
import type { StoredWork } from "../../streams/runs/hold-work.ts";
import type { WorkItem } from "../../streams/vocabulary.ts";

/** A store of waiting work: a part has two items and is read six columns later. `place` is that of the latest item. */
export function storedItems(scheduler: SchedulerLike) {
  const stored: WorkItem[] = [];
  const released: number[] = [];
  const work: StoredWork = {
    after: (place) =>
      timer(6, scheduler).pipe(
        map(() => {
          const items = stored.slice(place, place + 2);
          return { items, last: place + items.length, isEnd: items.length < 2 };
        }),
      ),
    released: () => released.push(scheduler.now()),
  };
  return {
    work,
    /** When `released` was called. */
    released,
    commit: (item: WorkItem) => void stored.push(item),
    /** `y` pauses new work, `n` resumes it. */
    pausedAfter: (paused$: Observable<boolean>): Observable<number | null> =>
      paused$.pipe(map((paused) => (paused ? stored.length : null))),
  };
}
