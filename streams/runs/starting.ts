import type { StopReason } from "../outcomes.ts";
import { finalize, ignoreElements, map, Observable, race, switchMap, take, tap, timer } from "rxjs";
import type { SchedulerLike } from "rxjs";
import { mergeUntilMainCompletes } from "../merge-until-main-completes.ts";
import type { Slot, Slots } from "./slots.ts";
import { stoppedBeforeStart, type RunnerEvent } from "./runner.ts";

export interface StartOptions {
  /** How many runs may be starting at once: shared by all agents. */
  readonly slots: Slots;
  readonly stop$: Observable<StopReason>;
  readonly scheduler: SchedulerLike;
  /** The run has its slot: its time counts from here. */
  readonly onStart: () => void;
}

/** A start that takes longer releases its slot for the next one, in ms. */
const maxStartMs = 30_000;

/**
 * A run that starts when it has one of the slots for starts, in the order of asking. It gives the slot back once it is
 * ready, at its end, or after half a minute. One that is stopped before has never started.
 *
 *     slot:  ──taken───free──
 *     run:             ─r──o──x|      r ready, o output, x exit
 *     out:             ─r──o──x|
 */
export function startInTurn(
  run$: Observable<RunnerEvent>,
  { slots, stop$, scheduler, onStart }: StartOptions,
): Observable<RunnerEvent> {
  const stopped$ = stop$.pipe(
    take(1),
    map(() => null),
  );
  return race(slotOf(slots), stopped$).pipe(
    switchMap((slot) => {
      if (slot === null) return [stoppedBeforeStart];
      onStart();
      const release = (): void => slot[Symbol.dispose]();
      const started$ = run$.pipe(
        tap(({ type }) => {
          if (type === "ready" || type === "exit") release();
        }),
      );
      const late$ = timer(maxStartMs, scheduler).pipe(tap(release), ignoreElements());
      return mergeUntilMainCompletes(started$, late$).pipe(finalize(release));
    }),
  );
}

/** Emits a slot once one is free, and completes. The subscriber disposes of the slot. */
function slotOf(slots: Slots): Observable<Slot> {
  return new Observable((subscriber) => {
    let stopWaiting: (() => void) | undefined;
    const tryTake = (): void => {
      const slot = slots.tryTake();
      if (slot === null) {
        stopWaiting = slots.wait(tryTake);
        return;
      }
      subscriber.next(slot);
      subscriber.complete();
    };
    tryTake();
    return () => stopWaiting?.();
  });
}
