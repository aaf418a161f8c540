import { BehaviorSubject } from "rxjs";
import type { Concurrency } from "../agent-config.ts";

/** Work with a concurrency key. */
export interface Keyed {
  readonly id: string;
  readonly key: string;
  /** Whether it was accepted before other work that already waits or runs. */
  readonly isRetry: boolean;
  /** Whether it makes up for an earlier time: other work of its key may be newer. */
  readonly isLate: boolean;
}

/** A live run of a key; `supersededBy$` has the id of the newer work for which it ends, null at first. */
export interface KeyedRun extends Keyed {
  readonly supersededBy$: BehaviorSubject<string | null>;
}

export function createKeyedRun(keyed: Keyed, supersededBy: string | null = null): KeyedRun {
  return { ...keyed, supersededBy$: new BehaviorSubject(supersededBy) };
}

export type KeyRules = Pick<Concurrency, "limit" | "onNew">;

/** The effect of newer work on the others of its key. */
export interface Effect {
  /** The newer work that takes the place of this one; null if it may wait. */
  readonly yieldsTo: string | null;
  readonly isReplacing: boolean;
  /** The run that ends for it. */
  readonly ends: KeyedRun | null;
}

const none: Effect = { yieldsTo: null, isReplacing: false, ends: null };

/** The live runs of one queue that have a key; `beside` are those that the queue did not start. */
export function createKeyedRuns(beside: () => Iterable<KeyedRun>) {
  const own = new Map<string, Set<KeyedRun>>();
  const live = (key: string): KeyedRun[] => [
    ...[...beside()].filter((run) => run.key === key),
    ...(own.get(key) ?? []),
  ];
  return {
    enter: (keyed: Keyed): KeyedRun => {
      const run = createKeyedRun(keyed);
      own.set(run.key, (own.get(run.key) ?? new Set()).add(run));
      return run;
    },
    leave: (run: KeyedRun): void => {
      const runs = own.get(run.key);
      runs?.delete(run);
      if (runs?.size === 0) own.delete(run.key);
    },
    isBusy: ({ key }: Keyed, { limit }: KeyRules): boolean => live(key).length >= limit,
    /** `waiting`: the work of the same key that waits. A retry gives way to newer work; neither it nor late work replaces any. */
    effectOf: (arrived: Keyed, waiting: readonly Keyed[], { limit, onNew }: KeyRules): Effect => {
      if (onNew === "wait" || arrived.isLate) return none;
      const runs = live(arrived.key);
      if (arrived.isRetry) {
        // With a limit of 1, a live run began after the one that is retried. With more, it may be older.
        const newer = waiting.at(-1) ?? (limit === 1 ? runs.at(-1) : undefined);
        return { ...none, yieldsTo: newer?.id ?? null };
      }
      const staying = runs.filter(({ supersededBy$ }) => supersededBy$.value === null);
      const isFull = onNew === "cancel" && staying.length >= limit;
      return { yieldsTo: null, isReplacing: true, ends: isFull ? (staying[0] ?? null) : null };
    },
  };
}
