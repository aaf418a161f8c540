import { switchMap, take, timer } from "rxjs";
import type { Observable, OperatorFunction, SchedulerLike } from "rxjs";
import { eachKey } from "./each-key.ts";

export interface Settling<T> {
  /** How long a name is quiet before it is read, in ms. */
  readonly quietMs: number;
  /** Emits one value. */
  readonly read: (name: string) => Observable<T>;
  readonly scheduler: SchedulerLike;
}

/**
 * Names that were touched → what was read of each once it is quiet. Each name settles and is read by itself; a touch
 * while it is read starts over. A name is forgotten once it was read: names of the past don't pile up, and no group
 * keeps the source open when the reader leaves.
 *
 *     names:  ─a─ab───────
 *     out:    ──────A─B───    A what was read of a
 */
export function readSettled<T>({
  quietMs,
  read,
  scheduler,
}: Settling<T>): OperatorFunction<string, T> {
  const settledRead = (name: string): Observable<T> =>
    timer(quietMs, scheduler).pipe(switchMap(() => read(name)));
  return eachKey(
    (name) => name,
    (_, name$) => name$.pipe(switchMap(settledRead), take(1)),
  );
}
