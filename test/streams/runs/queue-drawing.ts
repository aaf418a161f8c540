import { filter, map, of, startWith, timer } from "rxjs";
import type { Observable } from "rxjs";
import { createSlots } from "../../../streams/runs/slots.ts";
import { queueLatest } from "../../../streams/runs/queue-latest.ts";
import type { QueueLimits, QueueOptions } from "../../../streams/runs/queue-latest.ts";
import type { QueueEvent } from "../../../streams/runs/waiting-items.ts";
import { marbles, type Marbles } from "../../helpers/marbles.ts";

export type Told = QueueEvent<string> | { readonly type: "ran"; readonly item: string };
export type More = Partial<QueueOptions<string, Told>>;

export const open = (size: number, scale: number): QueueLimits => ({ size, scale, mode: "open" });
export const held = (size: number): QueueLimits => ({ size, scale: 1, mode: "held" });
export const closed: QueueLimits = { size: 1, scale: 1, mode: "closed" };

/**
 * The queue over `item$`, each run five columns long. Only events of one type are kept: `A` for a run of a that starts,
 * the item's own letter for all else.
 */
export function queue(
  helpers: Marbles,
  item$: Observable<string>,
  limits: QueueLimits | Observable<QueueLimits>,
  type: Told["type"] = "ran",
  more: More = {},
): Observable<string> {
  const ran = (item: string): Observable<Told> =>
    timer(5, helpers.scheduler).pipe(
      filter(() => false),
      map((): Told => ({ type: "ran", item })),
      startWith<Told>({ type: "ran", item }),
    );
  const operator = queueLatest<string, Told>({
    limits$: "mode" in limits ? of(limits) : limits,
    slots: createSlots(),
    isTick: () => false,
    mayWait: () => true,
    late: (item) => item,
    run: ran,
    report: (event) => event,
    ...more,
  });
  return item$.pipe(
    operator,
    filter((told) => told.type === type),
    map(letter),
  );
}

function letter(told: Told): string {
  if (told.type === "depth") return String(told.depth);
  if (told.type === "ending") return told.itemId;
  return told.type === "ran" ? told.item.toUpperCase() : told.item;
}

/** Items that come, the limits by their letters, and the events of each type. */
export interface Drawing extends Partial<Readonly<Record<Told["type"], string>>> {
  readonly items: string;
  readonly limits?: string;
  readonly more?: (helpers: Marbles) => More;
}

/** Expects the queue to emit these events; `limits` is fixed, or its letters are. */
export function expectQueue(
  limits: QueueLimits | Readonly<Record<string, QueueLimits>>,
  drawing: Drawing,
): void {
  marbles((helpers) => {
    const limits$ =
      "mode" in limits ? of(limits as QueueLimits) : helpers.hot(drawing.limits ?? "", limits);
    for (const type of [
      "queued",
      "dropped",
      "skipped",
      "superseded",
      "ending",
      "depth",
      "ran",
    ] as const) {
      const expected = drawing[type];
      if (expected === undefined) continue;
      const event$ = queue(
        helpers,
        helpers.hot(drawing.items),
        limits$,
        type,
        drawing.more?.(helpers),
      );
      helpers.expectObservable(event$).toBe(expected);
    }
  });
}
