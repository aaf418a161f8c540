import type { WarmKeeper } from "./warm-keeper.ts";

/** Keepers that wait for runs, as many for each OS user as is wanted. */
export interface WarmPool {
  /** `each` keepers for each of these users from now on, and none for others. */
  keep(users: readonly string[], each: number): void;
  /** One for a run as this user, which is the caller's from now on; null when there is none. */
  take(user: string): WarmKeeper | null;
}

export interface WarmPoolOptions {
  /** Rejects when it can't be started. */
  readonly start: (user: string) => Promise<WarmKeeper>;
  /** Before one that was taken is replaced, so that the next one doesn't start beside the run, in ms. */
  readonly restMs: number;
  /** Between the starts of two, in ms. */
  readonly staggerMs: number;
  /** Before one that failed is replaced, in ms; doubles with each that fails until one is taken or proves itself. */
  readonly retryMs: number;
  readonly longestRetryMs: number;
  /** One that waited for so long before it ended was good, in ms. */
  readonly provenMs: number;
}

export const warmTimes = {
  restMs: 1000,
  staggerMs: 200,
  retryMs: 1000,
  longestRetryMs: 5 * 60_000,
  provenMs: 60_000,
};

/** Those of one OS user. */
interface Shelf {
  readonly user: string;
  readonly waiting: WarmKeeper[];
  failures: number;
  isStarting: boolean;
  timer: NodeJS.Timeout | undefined;
}

/** A pool that starts one keeper at a time and replaces those that are taken or end. It keeps no process alive. */
export function createWarmPool(options: WarmPoolOptions): WarmPool {
  const shelves = new Map<string, Shelf>();
  let size = 0;

  const fill = (shelf: Shelf, ms: number) => {
    clearTimeout(shelf.timer);
    shelf.timer = setTimeout(() => void startOne(shelf), Math.max(ms, backOff(shelf))).unref();
  };
  const backOff = ({ failures }: Shelf) =>
    failures === 0 ? 0 : Math.min(options.retryMs * 2 ** (failures - 1), options.longestRetryMs);
  const isWanted = (shelf: Shelf) =>
    shelves.get(shelf.user) === shelf && shelf.waiting.length < size;

  const startOne = async (shelf: Shelf) => {
    if (shelf.isStarting || !isWanted(shelf)) return;
    shelf.isStarting = true;
    const keeper = await options.start(shelf.user).catch(() => null);
    shelf.isStarting = false;
    if (keeper === null) shelf.failures += 1;
    else if (isWanted(shelf)) put(shelf, keeper);
    else keeper.end();
    if (isWanted(shelf)) fill(shelf, options.staggerMs);
  };
  const put = (shelf: Shelf, keeper: WarmKeeper) => {
    const since = performance.now();
    shelf.waiting.push(keeper);
    void keeper.over.then(() => {
      const at = shelf.waiting.indexOf(keeper);
      if (at === -1) return;
      shelf.waiting.splice(at, 1);
      keeper.end();
      shelf.failures = performance.now() - since < options.provenMs ? shelf.failures + 1 : 1;
      fill(shelf, 0);
    });
  };
  const endBeyond = (shelf: Shelf, count: number) => {
    for (const keeper of shelf.waiting.splice(count)) keeper.end();
  };

  return {
    keep: (users, each) => {
      size = each;
      const wanted = new Set(each > 0 ? users : []);
      for (const shelf of shelves.values()) {
        endBeyond(shelf, wanted.has(shelf.user) ? size : 0);
        if (wanted.has(shelf.user)) continue;
        clearTimeout(shelf.timer);
        shelves.delete(shelf.user);
      }
      for (const user of wanted) {
        const shelf = shelves.get(user) ?? emptyShelf(user);
        shelves.set(user, shelf);
        if (isWanted(shelf)) fill(shelf, 0);
      }
    },
    take: (user) => {
      const shelf = shelves.get(user);
      if (shelf === undefined) return null;
      let keeper = shelf.waiting.shift();
      while (keeper !== undefined && !keeper.isGood()) {
        keeper.end();
        keeper = shelf.waiting.shift();
      }
      if (keeper !== undefined) shelf.failures = 0;
      fill(shelf, options.restMs);
      return keeper ?? null;
    },
  };
}

function emptyShelf(user: string): Shelf {
  return { user, waiting: [], failures: 0, isStarting: false, timer: undefined };
}
