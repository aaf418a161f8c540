export interface Withdrawal<T> {
  readonly isMeant: (item: T) => boolean;
  /** The item's caller cancelled it, or a live run takes it. */
  readonly why: "withdrawn" | "taken";
}

export type DropReason = "full" | "closed" | Withdrawal<unknown>["why"];

export type QueueEvent<T> =
  | { readonly type: "queued"; readonly item: T }
  | { readonly type: "dropped"; readonly item: T; readonly why: DropReason }
  | {
      readonly type: "skipped";
      readonly item: T;
      readonly why: "busy" | "key" | "held" | "replaced";
    }
  /** It does not run, because newer work of its key takes its place; `by` is the id of that. */
  | { readonly type: "superseded"; readonly item: T; readonly by: string }
  /** The live run of this item ends for newer work of its key. */
  | { readonly type: "ending"; readonly itemId: string; readonly by: string }
  | { readonly type: "depth"; readonly depth: number };

export interface WaitingOptions<T> {
  /** Ticks wait beside the other items: neither takes the other's place. */
  readonly isTick: (item: T) => boolean;
  /** Whether two ticks are of one schedule: at most one of them waits. All are by default. */
  readonly isSameSchedule?: (a: T, b: T) => boolean;
}

/** The waiting items, in order. Each change is reported. */
export function createWaiting<T>(
  report: (event: QueueEvent<T>) => void,
  { isTick, isSameSchedule = () => true }: WaitingOptions<T>,
) {
  const items: T[] = [];
  const isOther = (item: T): boolean => !isTick(item);
  const reportDepth = (): void => report({ type: "depth", depth: items.length });
  const drop = (index: number, count: number, why: DropReason): void => {
    for (const item of items.splice(index, count)) report({ type: "dropped", item, why });
  };
  const dropBeyond = (size: number): void => {
    while (items.length > size && items.filter(isOther).length > size) {
      drop(items.findIndex(isOther), 1, "full");
    }
  };
  return {
    items,
    reportDepth,
    add: (item: T, size: number): void => {
      items.push(item);
      report({ type: "queued", item });
      dropBeyond(size);
      reportDepth();
    },
    /** The tick takes the turn of the one that it replaces: at the end it would never come up in a busy queue. False if none waits. */
    replaceTick: (tick: T): boolean => {
      const index = items.findIndex((item) => isTick(item) && isSameSchedule(item, tick));
      if (index < 0) return false;
      for (const item of items.splice(index, 1, tick)) {
        report({ type: "skipped", item, why: "replaced" });
      }
      report({ type: "queued", item: tick });
      return true;
    },
    /** The item takes the turn of the first of those that it replaces, which there must be. */
    supersede: (isReplaced: (item: T) => boolean, item: T, by: string): void => {
      const depth = items.length;
      const first = items.findIndex(isReplaced);
      const [replaced, kept] = [items.filter(isReplaced), items.filter((one) => !isReplaced(one))];
      items.splice(0, depth, ...kept.slice(0, first), item, ...kept.slice(first));
      for (const one of replaced) report({ type: "superseded", item: one, by });
      report({ type: "queued", item });
      if (items.length !== depth) reportDepth();
    },
    withdraw: ({ isMeant, why }: Withdrawal<T>): void => {
      const index = items.findIndex(isMeant);
      if (index < 0) return;
      drop(index, 1, why);
      reportDepth();
    },
    limit: ({ mode, size }: { readonly mode: string; readonly size: number }): void => {
      const depth = items.length;
      if (mode === "closed") drop(0, depth, "closed");
      else dropBeyond(size);
      if (items.length !== depth) reportDepth();
    },
  };
}
