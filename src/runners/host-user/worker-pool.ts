import type { PrewarmedWorker } from "./prewarmed-worker.ts";

/** Workers that wait for runs, as many for each OS user as is wanted. */
export interface WorkerPool {
  /** `each` workers for each of these users from now on, and none for others. */
  keep(users: readonly string[], each: number): void;
  /** One for a run as this user, which is the caller's from now on; null when there is none. */
  take(user: string): PrewarmedWorker | null;
}

export interface WorkerPoolOptions {
  /** Rejects when it can't be started. */
  readonly start: (user: string) => Promise<PrewarmedWorker>;
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

export const workerPoolTimes = {
  restMs: 1000,
  staggerMs: 200,
  retryMs: 1000,
  longestRetryMs: 5 * 60_000,
  provenMs: 60_000,
};

/** Those of one OS user. */
interface UserWorkers {
  readonly user: string;
  readonly waiting: PrewarmedWorker[];
  failures: number;
  isStarting: boolean;
  timer: NodeJS.Timeout | undefined;
}

/** A pool that starts one worker at a time and replaces those that are taken or end. It keeps no process alive. */
export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const byUser = new Map<string, UserWorkers>();
  let size = 0;

  const fill = (own: UserWorkers, ms: number) => {
    clearTimeout(own.timer);
    own.timer = setTimeout(() => void startOne(own), Math.max(ms, backOff(own))).unref();
  };
  const backOff = ({ failures }: UserWorkers) =>
    failures === 0 ? 0 : Math.min(options.retryMs * 2 ** (failures - 1), options.longestRetryMs);
  const isWanted = (own: UserWorkers) => byUser.get(own.user) === own && own.waiting.length < size;

  const startOne = async (own: UserWorkers) => {
    if (own.isStarting || !isWanted(own)) return;
    own.isStarting = true;
    const worker = await options.start(own.user).catch(() => null);
    own.isStarting = false;
    if (worker === null) own.failures += 1;
    else if (isWanted(own)) put(own, worker);
    else worker.end();
    if (isWanted(own)) fill(own, options.staggerMs);
  };
  const put = (own: UserWorkers, worker: PrewarmedWorker) => {
    const since = performance.now();
    own.waiting.push(worker);
    void worker.over.then(() => {
      const at = own.waiting.indexOf(worker);
      if (at === -1) return;
      own.waiting.splice(at, 1);
      worker.end();
      own.failures = performance.now() - since < options.provenMs ? own.failures + 1 : 1;
      fill(own, 0);
    });
  };
  const endBeyond = (own: UserWorkers, count: number) => {
    for (const worker of own.waiting.splice(count)) worker.end();
  };

  return {
    keep: (users, each) => {
      size = each;
      const wanted = new Set(each > 0 ? users : []);
      for (const own of byUser.values()) {
        endBeyond(own, wanted.has(own.user) ? size : 0);
        if (wanted.has(own.user)) continue;
        clearTimeout(own.timer);
        byUser.delete(own.user);
      }
      for (const user of wanted) {
        const own = byUser.get(user) ?? noWorkers(user);
        byUser.set(user, own);
        if (isWanted(own)) fill(own, 0);
      }
    },
    take: (user) => {
      const own = byUser.get(user);
      if (own === undefined) return null;
      let worker = own.waiting.shift();
      while (worker !== undefined && !worker.isGood()) {
        worker.end();
        worker = own.waiting.shift();
      }
      if (worker !== undefined) own.failures = 0;
      fill(own, options.restMs);
      return worker ?? null;
    },
  };
}

function noWorkers(user: string): UserWorkers {
  return { user, waiting: [], failures: 0, isStarting: false, timer: undefined };
}
